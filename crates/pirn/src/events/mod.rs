//! Events: what happens to fibers, kept in a ring for each worker and logged on standard error.
//!
//! Owns: the ring (`ring`), what an event is, the lines of `PIRN_LOG`, and the record of a worker
//! by which it records them (`trace`). Does not own: the calls of that (`sched::worker::hooks`),
//! the use of the events (the module `observe`), nor when a slow fiber is reported (`stall`).
//!
//! Everything here is off unless a runtime was built with it: then a worker's byte `watch` is zero,
//! and each hook is a test of that byte.

#[expect(unsafe_code, reason = "reads what a fiber waits for")]
mod chan;
mod event;
mod log;
mod mask;
#[expect(unsafe_code, reason = "places in the source, kept as addresses")]
mod ring;
mod trace;
mod watched;

pub(crate) use event::{Event, Kind};
pub(crate) use log::{Origin, log};
pub use mask::{LogMask, UnknownCategory};
pub(crate) use trace::Trace;
pub(crate) use watched::{Outside, Watch, Watched};

#[cfg(test)]
mod tests;
