//! The interface of crossbeam-channel over pirn's channels, as far as its tests need it.
//!
//! Owns: the differences in shape. crossbeam's select is in two steps: `select` says which
//! operation has been chosen, and `send` or `recv` on what it returns does it. pirn's select
//! does the operation as it chooses it. So a value that has been chosen to be received waits
//! in its receiver until it is asked for (`kept`), and a chosen send has sent the promise of
//! a value (`parcel`). The macros are crossbeam's own, taken from its package at build time.
//!
//! Does not own: waiting, waking, the order of values, or the choice; all of that is pirn's,
//! through its public interface alone. Nothing here spins or blocks by other means.
//!
//! `fibers` is what takes the place of threads when the tests run on fibers.

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

pub use channel::{after, bounded, never, tick, unbounded};
pub use error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

/// What the macros call.
pub mod internal {
    pub use crate::kept::Id;
    pub use crate::select::{
        Operation, SelectHandle, select, select_timeout, try_select,
    };
}

include!(concat!(env!("OUT_DIR"), "/select_macro.rs"));

/// Runs the body of a test on the thread that it was called on.
pub fn on_thread(body: fn()) {
    body();
}
