//! Replacements of `std::thread`, of crossbeam's scoped threads and of locks for tests that run on
//! fibers.

mod fiber;
mod locks;
mod scoped;

pub use std::thread::panicking;

pub(crate) use fiber::polled;
pub use fiber::{JoinHandle, on_fiber, sleep, spawn, yield_now};
pub use locks::{Condvar, Mutex};
pub use scoped::{Scope, ScopedJoinHandle, scope};
