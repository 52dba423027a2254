//! Dispatchers: which workers a fiber runs on.
//!
//! [`Dispatcher::io`] for calls that block, [`single`](Dispatcher::single) for one thread,
//! [`limited`](Dispatcher::limited) for at most so many at a time, [`main`](Dispatcher::main) for
//! the main thread.

mod line;
mod main_thread;
mod pools;
mod room;
#[expect(
    unsafe_code,
    reason = "makes fibers and hands their one handle to the caller"
)]
mod target;

pub use main_thread::run_main;
pub use target::{Dispatcher, spawn_on};

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
