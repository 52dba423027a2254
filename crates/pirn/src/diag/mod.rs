//! Diagnostics: reads everything, changes nothing.

mod handle;

#[cfg(feature = "tracing")]
pub use crate::fiber::in_span;
pub use crate::observe::{Metrics, WorkerMetrics};
pub use crate::sched::counters::Counters;
pub use crate::sched::events::{LogMask, UnknownCategory};
pub use crate::wait::Reason;
