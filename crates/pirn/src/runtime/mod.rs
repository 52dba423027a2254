//! Runtimes: making, naming and ending a set of workers.

mod builder;
mod environment;
mod global;
#[expect(
    unsafe_code,
    reason = "runs a borrowing closure on another stack and waits"
)]
mod handle;
mod instance;
mod overflow;
mod testing;
mod watching;

pub use crate::sched::config::Scheduler;
pub use builder::{Builder, InstallError};
pub use global::shutdown_default;
pub(crate) use handle::visit;
pub use handle::{Handle, run};
pub use instance::{Runtime, Unfinished, UnfinishedFiber};
pub use testing::test;
