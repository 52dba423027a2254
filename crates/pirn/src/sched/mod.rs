//! The scheduler: workers, the queues between them, who runs what and who is woken.
//!
//! Owns everything between "this fiber may run" and "it runs". Does not own waiting
//! (`wait`), which reaches it through the trait `fiber::Schedule` only. No queue of this
//! module is visible outside of it.
//!
//! Read `worker` first (the loop), then `find`, `place`, `rest`.

#[cfg(feature = "diagnostics")]
#[path = "checks_on.rs"]
#[expect(
    unsafe_code,
    reason = "looks at the stack of a fiber that is being left"
)]
mod checks;
#[cfg(not(feature = "diagnostics"))]
#[path = "checks_none.rs"]
mod checks;
pub(crate) mod config;
pub(crate) mod counters;
pub(crate) mod events;
mod find;
pub(crate) mod idle;
#[expect(unsafe_code, reason = "hands queued headers between threads")]
pub(crate) mod injector;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod life;
pub(crate) mod mailbox;
mod monitor;
pub(crate) mod next;
mod pace;
#[expect(unsafe_code, reason = "passes on the contract of a pinned timer")]
pub(crate) mod place;
#[expect(unsafe_code, reason = "describes headers")]
pub(crate) mod pool;
mod quiet;
mod remote;
#[expect(unsafe_code, reason = "the worker's own generator behind its thread")]
mod rest;
#[expect(
    unsafe_code,
    reason = "slots handed between owner and thieves by positions"
)]
pub(crate) mod ring;
pub(crate) mod seeded;
mod share;
mod shutdown;
mod slow;
mod starved;
mod threads;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod timers;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod worker;

#[cfg(test)]
mod tests;
