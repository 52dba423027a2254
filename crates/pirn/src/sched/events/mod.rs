//! Events: what happens to fibers, kept in a ring for each worker and logged on standard error.
//!
//! Owns: the ring (`ring`), what an event is, the lines of `PIRN_LOG`, and the hooks that the
//! worker calls. Does not own: the use of the events (the module `observe`), nor when a slow fiber
//! is reported (`stall`).
//!
//! Everything here is off unless a runtime was built with it: then a worker's byte `watch` is zero,
//! and each hook is a test of that byte.

mod chan;
mod event;
mod hooks;
mod log;
#[expect(unsafe_code, reason = "places in the source, kept as addresses")]
mod ring;
mod watched;

pub(crate) use event::{Event, Kind};
pub(super) use hooks::Trace;
pub(crate) use log::log;
pub use log::{LogMask, UnknownCategory};
#[cfg(all(test, loom))]
pub(crate) use ring::EventRing;
pub(crate) use watched::Watch;
pub(super) use watched::{Outside, Watched};
