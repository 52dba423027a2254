//! Locks and meeting points, in the shapes of `std::sync`, for fibers and threads alike.
//!
//! They differ from `std` where fibers are better served: there is no poisoning (a fiber's
//! panic is reported where it is joined), so nothing returns a `Result` for it. Guards must
//! be dropped on the fiber that took them and are not `Send`; holding one across a
//! suspension is fine, and only those who want the same lock wait for it.
//!
//! Owns: who may go on, and in which order. Does not own: waiting (`wait`).

mod condvar;
#[expect(unsafe_code, reason = "hands out the value under the lock")]
mod mutex;
mod turns;
mod wait_group;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use wait_group::WaitGroup;
