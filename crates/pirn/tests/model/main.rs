//! The whole runtime under shuttle: workers as modelled threads, fibers on real stacks, and
//! schedules drawn from fixed seeds, random ones and PCT's.
//!
//! Built with `--cfg shuttle` (`cargo xtask model`); empty otherwise. A failing schedule shows as a
//! hang (all threads blocked), a wrong result, or an assertion of the library. Memory is
//! sequentially consistent here: the loom models check orderings.

#![cfg(shuttle)]

mod util;

/// Tickets used by primitives of the user.
mod tickets;

/// A fiber's end: trees, many joiners, threads that join, cancellation, detached fibers.
mod joins;

/// Tokens and time: park against unpark, timeouts against wakes, sleepers.
mod parking;

/// Joins of halves, some of which become fibers.
mod forks;

/// Borrowing scopes, nested, with panics, from threads.
mod scopes;

/// Select: one of several operations completes.
mod select;

/// One-time initialization, barriers, events, waiting on a key.
mod meetings;

/// Mutex, condition variable, wait group.
mod sync;

/// Reader-writer locks and semaphores.
mod turns;

/// Readiness of sources reported by the system.
mod sockets;

/// Bounded channels: exact values, and the effect of a close on waiters.
mod channels;

/// Futures that fibers wait for, and futures that wait.
mod futures;

/// Dispatchers: turns, places in a queue, the last handle.
mod dispatchers;

/// Workers that start and stop: standby workers, a size that changes, a thread that drives.
mod elastic;

/// Snapshots: reports on fibers that run meanwhile.
mod reports;

/// Deadlines of code against data, cancellation and the ends of fibers.
mod deadlines;

/// Stacks that run out and become available again.
mod stacks;

/// Several runtimes, their idleness and their ends.
mod runtimes;
