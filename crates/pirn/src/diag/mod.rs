//! Diagnostics: fibers and what they wait for ([`fibers()`], [`dump()`], [`dump_on_quit`],
//! [`name_object`]), counters of a runtime ([`Metrics`]), traces
//! ([`Builder::trace`](crate::runtime::Builder::trace)), and threads that may still wake a fiber
//! ([`external_wait`]). Reads everything, changes nothing.

mod dump;
mod external;
mod fibers;
mod handle;
mod quit;

#[cfg(feature = "tracing")]
pub use crate::fiber::in_span;
pub use crate::fiber::life::State;
pub use crate::observe::{Metrics, WorkerMetrics};
pub use crate::sched::counters::Counters;
pub use crate::sched::events::{LogMask, UnknownCategory};
pub use crate::sched::fiber_info::FiberInfo;
pub use crate::sched::lines::{LineClass, SpawnLine};
pub use crate::sched::scale::ScaleReason;
pub use crate::sched::standing::WorkerState;
pub use crate::wait::Reason;
pub use crate::wait::object::{Nameable, Object, ObjectKind, name_object};
pub use dump::dump;
pub use external::external_wait;
pub use fibers::fibers;
pub use quit::dump_on_quit;
