//! Storms: a million operations and more of one kind, with exact results, on runtimes of every
//! shape, and no intervention of a safety net. Ignored by an ordinary run of the tests; `cargo
//! xtask stress` repeats them.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "fibers are tested beside plain threads and against the real clock"
)]

/// Channels that close in the middle of traffic.
#[path = "../it/channel_games.rs"]
#[allow(dead_code, reason = "the storms need only some of it")]
mod channel_games;
/// The same jobs as fibers, as threads, as both.
#[path = "../it/executor_kind.rs"]
#[allow(dead_code, reason = "the storms need only some of it")]
mod executor_kind;
/// Lengths of parallel work, and work that takes a while or panics.
#[path = "../it/par_fixture.rs"]
#[allow(dead_code, reason = "the storms need only some of it")]
mod par_fixture;
/// Trees of joins drawn by a seed, halves that wait for each other, runtimes that end meanwhile.
#[path = "../it/par_games.rs"]
#[allow(dead_code, reason = "the storms need only some of it")]
mod par_games;
/// Numbers to sort.
#[path = "../it/par_patterns.rs"]
mod par_patterns;
/// Runtimes of every shape, and the system's statistics of this process.
#[path = "../it/util.rs"]
#[allow(dead_code, reason = "the storms need only some of it")]
mod util;

/// Short-lived fibers: each runs once, each is joined, memory use stays constant.
mod births;
/// Channels that close while values pass through them.
mod closes;
/// Millions of fibers alive at once, and their cost.
mod crowds;
/// Joins by the million, and events in the middle of them.
mod forks;
/// Waits and wakes that coincide in every window.
mod load;
mod meetings;
/// Heartbeats that are on time where fibers may migrate.
#[expect(unsafe_code, reason = "lets fibers migrate")]
mod migrants;
/// Processor time of other processes during a measurement.
mod others;
/// Scopes, nested and in sequence.
mod scopes;
/// Selects, repeatedly.
mod selects;
/// Pools and servers that settle before their work arrives, and the processors that work on it.
mod shares;
/// Sockets: answers, limits, many at one.
mod sockets;
/// Blocked threads, neighbors that compute, and the reports on both.
mod stalls;
/// Reader-writer locks and semaphores, by requests that wait and that give up.
mod turns;
/// Snapshots of a hundred thousand fibers, and how long they delay others.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "reads the processor time of a thread")]
mod walks;
