//! What a runtime reports: the snapshot of its counters, the trace of its events, the report at its
//! end, and the answers to other processes.
//!
//! Owns: [`Metrics`], the trace file, the report at the end, the [`Inspector`]. Does not own: the
//! counters and the events (`sched`), nor the interfaces that request them (`runtime`, `diag`).

mod ending;
mod inspect;
mod json;
mod metrics;
#[cfg(feature = "prometheus")]
mod prometheus;
mod trace;
mod trace_file;

pub(crate) use ending::{Ending, at_process_exit};
pub(crate) use inspect::Inspector;
pub use metrics::{Metrics, WorkerMetrics};
pub(crate) use trace::write_trace;
pub(crate) use trace_file::TraceFile;
