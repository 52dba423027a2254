//! Locks and meeting points, in the shapes of `std::sync`, for fibers and threads alike:
//! [`Mutex`], [`RwLock`], [`Condvar`], [`Semaphore`], [`Barrier`], [`WaitGroup`], [`Event`],
//! [`Once`], [`OnceLock`], [`LazyLock`]; and a [`Pool`] of things to lend.
//!
//! They differ from `std` where fibers are better served: there is no poisoning (a fiber's
//! panic is reported where it is joined), so nothing returns a `Result` for it. Guards must
//! be dropped on the fiber that took them and are not `Send`; holding one across a
//! suspension is fine, and only those who want the same lock wait for it.
//!
//! Owns: who may go on, and in which order. Does not own: waiting (`wait`).

mod barrier;
mod condvar;
mod event;
mod holder;
mod lazy_lock;
#[expect(unsafe_code, reason = "hands out the value under the lock")]
mod mutex;
mod once;
#[expect(unsafe_code, reason = "writes the value once and hands it out")]
mod once_lock;
mod permits;
mod pool;
#[expect(unsafe_code, reason = "hands out the value under the lock")]
mod rwlock;
mod semaphore;
mod shared_turns;
mod turns;
mod wait_group;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use event::Event;
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use once_lock::OnceLock;
pub use pool::{Pool, Pooled};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{AcquireError, OwnedPermit, Permit, Semaphore};
pub use wait_group::WaitGroup;

#[cfg(test)]
mod tests;
