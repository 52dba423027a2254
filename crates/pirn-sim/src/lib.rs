//! Finds concurrency bugs of programs on pirn.
//!
//! A [`campaign`](campaign()) runs a test many times, each time with another schedule. A *schedule*
//! says at each *choice* which fiber runs next. There is a choice before every operation that other
//! fibers notice (a lock, a send, a receive, a close, a notification, a wake), and before the end of a
//! fiber. So a bug that needs
//! another fiber to run between two operations is found, although neither of them waits.
//!
//! The first schedule that fails is [shrunk](Failure::trace) to the choices that matter, and
//! reported with a trace. The trace replays the failure in the same test, also after most changes
//! of the program.
//!
//! # Examples
//! Two critical sections that should have been one:
//! ```should_panic
//! use std::sync::Arc;
//!
//! use pirn::sync::Mutex;
//!
//! pirn_sim::campaign().check(|| {
//!     let balance = Arc::new(Mutex::new(0));
//!     let deposit = |amount| {
//!         let balance = Arc::clone(&balance);
//!         pirn::spawn(move || {
//!             let before = *balance.lock();
//!             *balance.lock() = before + amount;
//!         })
//!     };
//!     let deposits = [deposit(1), deposit(2)];
//!     deposits.into_iter().for_each(|fiber| fiber.join().unwrap());
//!     assert_eq!(*balance.lock(), 3);
//! });
//! ```
//!
//! # What a run fails for
//! * A panic of the body, or of a fiber that no party has joined.
//! * A deadlock: no fiber can run and no timer is armed, but the body, or a fiber that it has
//!   spawned, has not ended: also a detached one that still waits when the body returns. This is
//!   known at once.
//! * More choices than [`Campaign::choices`] allows: an endless loop.
//!
//! # Limits
//! * Schedules are interleavings of operations, as on one processor: no weak memory orders. The
//!   atomics of `std` are no choices: use those of [`pirn::sim::atomic`], or put [`point`] before
//!   them.
//! * [`OnceLock::get`](pirn::sync::OnceLock::get) and
//!   [`Once::is_completed`](pirn::sync::Once::is_completed) are no choices either: put [`point`]
//!   before them.
//! * A fiber polls a future, and unwinds, in one step: no other fiber runs between the operations in
//!   one poll. A search in which there are such operations does not claim to be complete.
//! * A search without a bound takes one order of operations on different objects, also of those
//!   that a [`history`] records around them. For a history, give it a bound.
//! * The body runs many times in one process. What it leaves in statics is there in the next run,
//!   and the order of a `HashMap` differs between runs.
//! * A fiber that ends wakes its joiners and is counted off by its scope or group in one step:
//!   [`Scope::len`](pirn::scope::Scope::len) never counts a fiber that has been joined.
//! * No other fiber runs between the last operation under a lock and the end of the lock. For a
//!   `try_lock` that is to find it held, put a [`point`] there.
//! * If a fiber holds a lock of `std` at a choice and another fiber takes it, the run never ends.
//!   That is reported after 10 s ([`Campaign::stuck_limit`]). Use the locks of pirn.
//! * Time is virtual, as in [`runtime::test`](pirn::runtime::test), and jumps when no fiber is
//!   ready. Each choice takes 40 ns to 5 µs, drawn from the seed, so two moments that are equal in
//!   the program come in either order. A time limit hardly ever ends before a ready fiber has run.
//! * A loop that waits for another fiber has to call [`yield_now`](pirn::yield_now); otherwise the
//!   canonical schedule never leaves it. A loop without an operation of the library is given up
//!   after 10 s.
//! * A fiber that waits for a plain thread, a socket, a child process or another runtime counts as
//!   one that waits indefinitely. Calls of [`blocking`](pirn::blocking()) and of files are waited
//!   for in real time.
//! * Which halves of a join of `par` become fibers is drawn from the seed: it is no part of the
//!   schedule, not enumerated, and not shrunk.
//! * `Handle::wait_idle` never ends in a body: a fiber of the campaign waits for the run.
//! * Locks and condition variables have no spurious wake-ups.
//! * A panic in a destructor while a fiber unwinds aborts the process, as without a campaign. Both
//!   panics, and how to repeat the run, are printed before.
//! * The fibers of a deadlock never resume and are leaked, with everything on their stacks.

#![expect(
    clippy::disallowed_methods,
    reason = "the limits of a campaign are of real time, and its search is shared by plain threads"
)]

// The code of the package's first page is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod campaign;
mod corpus;
mod diagram;
mod eventually;
mod explain;
mod failure;
pub mod history;
mod output;
mod runner;
mod series;
mod shrink;
mod strategy;
mod trace;
mod turns;
mod watchdog;

pub use campaign::{Campaign, Outcome, campaign};
pub use eventually::eventually;
pub use failure::{Failure, Verdict};
pub use pirn::sim::point;
pub use runner::seed;
pub use strategy::Strategy;
pub use trace::{ParseTraceError, Trace};
