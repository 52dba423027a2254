//! The whole runtime under shuttle: workers as modelled threads, fibers on real stacks, and
//! schedules drawn from fixed seeds, random ones and PCT's.
//!
//! Built with `--cfg shuttle` (`cargo xtask model`); empty otherwise. What a schedule finds
//! is a hang (all threads blocked), a wrong result, or an assertion of the library's own.
//! Memory is sequentially consistent here: orderings are the business of the loom models.

#![cfg(shuttle)]

mod rig;

/// Tickets in the hands of the user's own primitives.
mod tickets;

/// A fiber's end: trees, many joiners, threads that join, cancellation, detached fibers.
mod joins;

/// Tokens and time: park against unpark, timeouts against wakes, sleepers.
mod parking;

/// Joins of halves, some of which become fibers.
mod forks;

/// Borrowing scopes, nested, with panics, from threads.
mod scopes;

/// One of several things.
mod select;

/// Things done once, barriers, events, waiting on a key.
mod meetings;

/// Mutex, condition variable, wait group.
mod sync;

/// Reader-writer locks and semaphores.
mod turns;

/// Sources that the system tells of.
mod wires;

/// Bounded channels: exact values, and what a close does to whoever waits.
mod channels;

/// Futures that are waited for, and that wait.
mod futures;

/// Dispatchers: turns, places in a queue, the last handle.
mod dispatchers;

/// Workers that come and go: stand-ins, a size that changes, a thread that drives.
mod elastic;

/// The roll: reports on fibers that go on meanwhile.
mod reports;

/// Deadlines of code against data, cancellation and the ends of fibers.
mod deadlines;

/// Stacks that run out and come back.
mod stacks;

/// Several runtimes, their idleness and their ends.
mod runtimes;
