//! What a runtime tells of itself: the snapshot of its counters, the trace of its events, and
//! what is said when it ends, what it answers to whoever asks from another process.
//!
//! Owns: [`Metrics`], the trace file, the report at the end, the [`Inspector`]. Does not own: the counters and
//! the events (`sched`), nor who asks for them (`runtime`, `diag`).

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
