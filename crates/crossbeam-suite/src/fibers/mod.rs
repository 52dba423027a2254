//! What takes the place of `std::thread`, of crossbeam's scoped threads and of locks when the
//! tests run on fibers.

mod fiber;
mod locks;
mod scoped;

pub use std::thread::panicking;

pub use fiber::{on_fiber, sleep, spawn, yield_now, JoinHandle};
pub use locks::{Condvar, Mutex};
pub use scoped::{scope, Scope, ScopedJoinHandle};
