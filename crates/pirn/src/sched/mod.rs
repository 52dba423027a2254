//! The scheduler: workers, the queues between them, and the choice of the worker that runs a fiber or
//! is woken for it.
//!
//! Owns everything between "this fiber may run" and "it runs". Does not own waiting (`wait`), which
//! accesses it through the trait `fiber::Schedule` only. No queue of this module is visible outside of
//! it.
//!
//! Read `worker` first (the loop), then `find`, `place`, `rest`.

mod apart;
mod balance;
pub(crate) mod beat;
#[expect(unsafe_code, reason = "tells the thread whose jobs its joins note")]
pub(crate) mod by_hand;
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
#[expect(unsafe_code, reason = "timers and lists behind locks")]
mod commons;
pub(crate) mod config;
pub(crate) mod counters;
mod cycle;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod driver;
pub(crate) mod events;
#[expect(unsafe_code, reason = "reads the headers of fibers that do not run")]
pub(crate) mod fiber_info;
mod fiber_text;
mod find;
mod frames;
#[expect(unsafe_code, reason = "switches to fibers that came out of a queue")]
mod free;
mod gain;
pub(crate) mod glance;
mod hold;
mod holders;
pub(crate) mod idle;
#[expect(unsafe_code, reason = "hands queued headers between threads")]
pub(crate) mod injector;
mod lend;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod life;
pub(crate) mod lines;
pub(crate) mod mailbox;
mod monitor;
pub(crate) mod next;
mod pace;
#[expect(unsafe_code, reason = "passes on the contract of a pinned timer")]
pub(crate) mod place;
#[expect(unsafe_code, reason = "touches stacks that nobody uses")]
pub(crate) mod pool;
#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(loom, shuttle, pirn_polling))
))]
#[expect(unsafe_code, reason = "operations in the frames of fibers that wait")]
pub(crate) mod queued;
#[cfg(not(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(loom, shuttle, pirn_polling))
)))]
#[path = "queued_none.rs"]
pub(crate) mod queued;
mod quiet;
pub(crate) mod registry;
mod remote;
#[expect(unsafe_code, reason = "the worker's own generator behind its thread")]
mod rest;
#[expect(
    unsafe_code,
    reason = "slots handed between owner and thieves by positions"
)]
pub(crate) mod ring;
#[expect(
    unsafe_code,
    reason = "the list that only the worker's own thread reaches"
)]
pub(crate) mod roll;
pub(crate) mod scale;
pub(crate) mod seeded;
mod shutdown;
#[expect(
    unsafe_code,
    reason = "touches stacks that only the worker's own thread reaches"
)]
mod spare;
mod stall;
pub(crate) mod standing;
mod starved;
#[expect(unsafe_code, reason = "reads the headers of fibers that it holds")]
mod survey;
pub(crate) mod tally;
mod thread_end;
mod threads;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod timers;
pub(crate) mod trial;
pub(crate) mod walk;
mod watch;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
mod worker;

#[cfg(test)]
mod tests;
