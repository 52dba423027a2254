//! Running code that blocks its thread, or computes for long, off the workers.
//!
//! * [`blocking`](crate::blocking()) runs a closure on one of at most 64 threads for calls that
//!   block, while the calling fiber parks.
//! * [`compute()`] runs a long computation as a fiber on a thread beside the workers.
//! * [`block_in_place`] stays on the calling thread, and lets other workers take over the fibers
//!   that have not started.
//!
//! None of them is an interruption point. Calls on files ([`fs`](crate::fs)) need none of them.
//!
//! ```
//! use std::{sync::mpsc, thread};
//!
//! pirn::run(|| {
//!     let (tx, rx) = mpsc::channel();
//!     thread::spawn(move || tx.send(42));
//!     // A receiver of `std` blocks its thread, which is no worker here.
//!     assert_eq!(pirn::blocking(move || rx.recv()), Ok(42));
//! });
//! ```

mod compute;
mod file_call;
mod file_read;
mod in_place;
#[expect(unsafe_code, reason = "a job borrows from the frame that waits for it")]
mod threads;

pub use compute::compute;
pub(crate) use file_call::{file_call, lock_call};
pub(crate) use file_read::{file_read, file_read_exact};
pub use in_place::block_in_place;
pub use threads::blocking;
