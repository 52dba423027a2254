//! Diagnostics: reads everything, changes nothing.

mod metrics;

pub use crate::sched::counters::Counters;
pub use crate::sched::scale::ScaleReason;
pub use crate::wait::Reason;
pub use metrics::{Metrics, WorkerMetrics};
