//! One OS thread that runs fibers.
//!
//! Read `run` first (the loop), then `next_fiber`, `enqueue`, `park`.

#[cfg(feature = "diagnostics")]
#[path = "checks_on.rs"]
#[expect(
    unsafe_code,
    reason = "looks at the stack of a fiber that is being left"
)]
pub(super) mod checks;
#[cfg(not(feature = "diagnostics"))]
#[path = "checks_none.rs"]
pub(super) mod checks;
#[expect(unsafe_code, reason = "passes on the contract of a pinned timer")]
pub(crate) mod enqueue;
pub(crate) mod heartbeat;
#[expect(unsafe_code, reason = "reads why a fiber has left its stack")]
pub(super) mod hooks;
pub(super) mod next_fiber;
#[expect(
    unsafe_code,
    reason = "the buffer of events that only the worker's own thread reaches"
)]
pub(super) mod park;
pub(super) mod records;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
pub(crate) mod run;
#[expect(
    unsafe_code,
    reason = "touches stacks that only the worker's own thread reaches"
)]
pub(super) mod stacks;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
pub(super) mod start_finish;
pub(crate) mod system;
pub(super) mod take;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
pub(super) mod timers;
