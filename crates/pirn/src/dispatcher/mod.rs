//! Dispatchers: targets for spawns other than the current runtime.
//!
//! [`Dispatcher::io`] is for calls that block, [`single`](Dispatcher::single) has one thread,
//! [`limited`](Dispatcher::limited) bounds the number of fibers at a time,
//! [`main`](Dispatcher::main) is the main thread. [`spawn`](Dispatcher::spawn) starts a fiber
//! there, [`run`](Dispatcher::run) also waits for its result.
//!
//! ```
//! use pirn::dispatcher::Dispatcher;
//!
//! pirn::run(|| {
//!     // Only the closure moves to another thread. It may borrow.
//!     let path = "/dev/null".to_owned();
//!     let text = Dispatcher::io().run(|| std::fs::read_to_string(&path));
//!     assert_eq!(text.unwrap(), "");
//! });
//! ```

mod active_limit;
mod main_thread;
mod pools;
mod queue_bound;
mod target;

pub use main_thread::run_main;
pub use target::{Dispatcher, spawn_on};

#[cfg(all(test, not(pirn_modelled)))]
mod tests;
