//! The reports of a runtime: snapshots of its counters and of its fibers, the trace of its events,
//! the report at its end, the answers to other processes, stalls and deadlocks.
//!
//! Owns: [`Metrics`], the trace file, the report at the end, the [`Inspector`], the observers of a
//! pool. Does not own: the counters and the events (`sched`), nor the interfaces that request them
//! (`runtime`, `diag`).

mod deadlock;
mod ending;
mod inspect;
mod json;
mod metrics;
mod observers;
#[cfg(feature = "prometheus")]
mod prometheus;
pub(crate) mod report;
mod stack_use;
mod stall;
mod trace;
mod trace_file;

pub use deadlock::Deadlock;
pub(crate) use deadlock::{Trial, verdict};
pub(crate) use ending::{Ending, at_process_exit};
pub(crate) use inspect::Inspector;
pub use metrics::{Metrics, WorkerMetrics};
pub(crate) use observers::observers;
pub use stack_use::StackUse;
pub(crate) use trace::write_trace;
pub(crate) use trace_file::TraceFile;
