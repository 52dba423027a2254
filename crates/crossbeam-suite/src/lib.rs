//! The interface of crossbeam-channel over pirn's channels, as far as its tests need it.
//!
//! Owns: the differences in shape. crossbeam's select is in two steps: `select` returns the chosen
//! operation, and `send` or `recv` on that completes it. pirn's select completes the operation as
//! it chooses it. So a chosen receive keeps its value in the receiver until it is taken (`kept`),
//! and a chosen send has sent the promise of a value (`parcel`). The macros are crossbeam's own,
//! taken from its package at build time.
//!
//! Does not own: waiting, waking, the order of values, or the choice; all of that is pirn's,
//! through its public interface alone. No code here spins or blocks by other means.
//!
//! `fibers` replaces threads when the tests run on fibers.

mod channel;
mod error;
pub mod fibers;
mod iter;
#[expect(clippy::disallowed_methods, reason = "a lock never held across a wait")]
mod kept;
mod parcel;
mod receiver;
mod select;
mod sender;

use std::process::Command;

pub use channel::{after, bounded, never, tick, unbounded};
pub use error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

/// Functions that the macros call.
pub mod internal {
    pub use crate::kept::Id;
    pub use crate::select::{
        Operation, SelectHandle, select, select_timeout, try_select,
    };
}

include!(concat!(env!("OUT_DIR"), "/select_macro.rs"));

/// Runs the body of a test on the calling thread.
pub fn on_thread(body: fn()) {
    body();
}

/// Runs `test`, called `name`, in a process of its own.
///
/// # Panics
/// If it fails there.
pub fn apart(name: &str, test: impl FnOnce()) {
    const APART: &str = "PIRN_SUITE_APART";
    if std::env::var_os(APART).is_some() {
        return test();
    }
    let mut own = Command::new(std::env::current_exe().expect("this binary"));
    own.args(["--exact", name, "--test-threads=1"])
        .env(APART, "1");
    let ended = own.output().expect("a process starts");
    let said = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}{errors}");
    assert!(said.contains("1 passed"), "{said}");
}
