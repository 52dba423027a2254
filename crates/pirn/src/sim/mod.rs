//! Atomics, cells and properties for simulated runs of tests: operations on the atomics are choices
//! of the schedule, and the cells report accesses at the same time.
//!
//! The crate `pirn-sim` runs a test many times, each time with another schedule. It turns on the
//! feature `sim` of this crate. Without that feature everything here is inert: [`atomic`] is
//! `std::sync::atomic`, [`point`] is empty, and properties are not evaluated. So programs may use
//! this module in production code.
//!
//! | item | in a simulated run | elsewhere |
//! |---|---|---|
//! | [`atomic`] | each operation is a choice of the schedule | the operations of `std` |
//! | [`point`] | a choice | nothing |
//! | [`cell::Racy`] | two accesses at once fail the run; each access is a choice | two accesses at once panic |
//! | [`always!`], [`sometimes!`], [`reachable!`] | recorded for the campaign | not evaluated |
//!
//! # Examples
//! A counter of retries that two threads may lose:
//! ```
//! use pirn::sim::atomic::{AtomicU32, Ordering};
//!
//! static RETRIES: AtomicU32 = AtomicU32::new(0);
//!
//! fn retry() {
//!     // A bug that a campaign finds: another fiber may come between the two.
//!     let before = RETRIES.load(Ordering::Relaxed);
//!     RETRIES.store(before + 1, Ordering::Relaxed);
//!     pirn::sim::always!(before < 3, "few retries", "{before} retries");
//! }
//! retry();
//! ```

#[cfg(feature = "sim")]
pub mod atomic;
pub mod cell;
mod property;
mod simulated;

#[doc(hidden)]
pub use crate::base::choice::{Property, Rule};
pub use crate::sim_always as always;
pub use crate::sim_reachable as reachable;
pub use crate::sim_sometimes as sometimes;
#[doc(hidden)]
pub use property::{describe, record};
pub use simulated::{is_simulated, point};
#[cfg(not(feature = "sim"))]
pub use std::sync::atomic;

use simulated::before;
