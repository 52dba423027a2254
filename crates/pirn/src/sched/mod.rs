//! The scheduler: workers, the queues between them, and the choice of the worker that runs a fiber
//! or is woken for it.
//!
//! Owns everything between "this fiber may run" and "it runs". Does not own waiting (`wait`), which
//! accesses it through the trait `fiber::Schedule` only. No queue of this module is visible outside
//! of it.
//!
//! Read `worker::run` first (the loop), then `worker::{next_fiber, enqueue, park}`.
//!
//! | Folder | Contents |
//! |---|---|
//! | `worker` | one thread that runs fibers: its loop, where it finds and puts fibers, its sleep; `records` know no worker |
//! | `queue` | the queues of fibers that may run; they know no worker |
//! | `pool` | data that the workers of one runtime share; it knows no worker and no policy |
//! | `placement` | the worker on which a fresh fiber starts |
//! | `policy` | decisions about threads, made beside the loop |
//! | `io` | operations of the system that fibers wait for; they know no worker |
//! | `migrate`, `deterministic`, `driven` | other kinds of runtimes: fibers that change threads, choices from a seed, no threads |

pub(crate) mod config;
pub(crate) mod deterministic;
pub(crate) mod driven;
pub(crate) mod io;
mod migrate;
pub(crate) mod observer;
pub(crate) mod placement;
pub(crate) mod policy;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod worker;

#[cfg(test)]
mod tests;
