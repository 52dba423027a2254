//! Diagnostics: fibers and what they wait for ([`fibers()`], [`dump()`], [`dump_on_quit`],
//! [`name_object`]), counters of a runtime ([`Metrics`]), traces
//! ([`Builder::trace`](crate::runtime::Builder::trace)), and threads that may still wake a fiber
//! ([`external_wait`]). Reads everything, changes nothing.
//!
//! # Examples
//! ```
//! use pirn::diag::State;
//!
//! let runtime = pirn::Runtime::builder().workers(1).build()?;
//! runtime.run(|| {
//!     let fiber = pirn::spawn(pirn::park);
//!     pirn::yield_now(); // It runs, and parks.
//!     let fibers = runtime.fibers();
//!     assert!(fibers.iter().any(|fiber| fiber.state == State::Parked));
//!     fiber.fiber().unpark();
//! });
//! assert_eq!(runtime.metrics().total.spawned, 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod dump;
mod external;
mod fibers;
mod handle;
mod quit;

pub use crate::events::{LogMask, UnknownCategory};
#[cfg(feature = "tracing")]
pub use crate::fiber::in_span;
pub use crate::fiber::state_names::State;
pub use crate::observe::{Metrics, StackUse, WorkerMetrics};
pub use crate::report::fiber_info::FiberInfo;
pub use crate::sched::placement::lines::{LineClass, SpawnLine};
pub use crate::sched::pool::counters::Counters;
pub use crate::sched::pool::threads::decisions::ScaleReason;
pub use crate::sched::pool::worker_state::WorkerState;
pub use crate::wait::Reason;
pub use crate::wait::object::{Nameable, Object, ObjectKind, name_object};
pub use dump::dump;
pub use external::external_wait;
pub use fibers::fibers;
pub use quit::dump_on_quit;
