//! Synchronization primitives in the shapes of `std::sync`, for fibers and threads: [`Mutex`],
//! [`RwLock`], [`Condvar`], [`Semaphore`], [`Barrier`], [`WaitGroup`], [`Event`], [`Once`],
//! [`OnceLock`], [`LazyLock`]; and [`Pool`], a pool of reusable objects.
//!
//! They differ from `std` where this suits fibers better. There is no poisoning, because a fiber's
//! panic is reported where it is joined; so no function returns a `Result` for it. Guards must be
//! dropped on the fiber that acquired them and are not `Send`. A guard may be held across a
//! suspension: only parties that want the same lock wait for it. Permits of a [`Semaphore`] are
//! `Send`.
//!
//! Functions with the suffix `_timeout` wait for at most a [`Duration`](std::time::Duration). If
//! the clock cannot express its end, they wait without a limit. Functions with the suffix
//! `_interruptible`, and others with an error that can carry an [`Interrupt`](crate::Interrupt),
//! are interruption points. Functions with the prefix `try_` do not wait. Inside the
//! [poll](crate::future#inside-a-poll) of a future on a fiber, a call that has to wait panics. See
//! [the guide](crate::guide::sync).

// Owns: the order in which waiters proceed. Does not own: waiting (`wait`).

mod barrier;
mod condvar;
mod event;
#[expect(unsafe_code, reason = "lends the value to the party that has a turn")]
mod guarded;
mod holder;
mod init;
mod mapped;
mod mutex;
mod permits;
mod pool;
mod rwlock;
mod semaphore;
mod shared_turns;
mod turns;
mod wait_group;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use event::Event;
pub use init::{LazyLock, Once, OnceLock, OnceState};
pub use mapped::{MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard};
pub use mutex::{Mutex, MutexGuard};
pub use pool::{Pool, Pooled};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
pub use semaphore::{AcquireError, OwnedPermit, Permit, Semaphore};
pub use wait_group::WaitGroup;

#[cfg(test)]
mod tests;
