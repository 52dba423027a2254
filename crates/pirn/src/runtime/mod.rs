//! Runtimes: creating, configuring and ending a set of workers.

#[expect(unsafe_code, reason = "a method whose contract the caller keeps")]
mod builder;
mod by_hand;
mod environment;
mod global;
#[expect(
    unsafe_code,
    reason = "runs a borrowing closure on another stack and waits"
)]
mod handle;
mod instance;
mod overflow;
mod size;
mod testing;
#[cfg(all(feature = "tokio", not(any(loom, shuttle))))]
mod tokio;
mod watching;

pub use crate::fiber::unwound::PanicInfo;
pub use crate::sched::config::{Deadlock, Scheduler};
pub use crate::sched::lines::Spread;
pub use builder::{Builder, InstallError};
pub use global::shutdown_default;
pub(crate) use handle::visit;
pub use handle::{Handle, run};
pub use instance::{Runtime, Unfinished};
pub use testing::test;
