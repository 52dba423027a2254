//! Timers: a hierarchical wheel of intrusive entries, pure.
//!
//! Owns: which armed timer is due at a given time, and when to check next. [`Timer`] is the entry,
//! on the stack of the waiter; [`Wheel`] holds entries while they are armed.
//!
//! Does not own: the clock, as every call gets the time as an argument; the sleep of a worker; or
//! the meaning of a fired timer. The caller gets the payload and wakes with it. Only the worker
//! that owns the wheel calls it, so it needs no lock. Other threads may read which slots have
//! timers ([`Levels`]).

mod entry;
mod ticks;
#[expect(unsafe_code, reason = "links entries that live on waiters' stacks")]
mod wheel;

pub(crate) use entry::Timer;
pub(crate) use wheel::{Levels, Wheel};

#[cfg(test)]
mod tests;
