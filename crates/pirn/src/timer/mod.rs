//! Timers: a hierarchical wheel of intrusive entries, pure.
//!
//! Owns: which armed timer is due at a given time, and when to look next. [`Timer`] is the
//! entry, on the stack of whoever waits; [`Wheel`] holds entries while they are armed.
//!
//! Does not own: the clock (every call is told the time), the sleep of a worker, or what
//! a fired timer means (a payload is handed back; the caller wakes with it). Only the
//! worker that owns the wheel calls it, so nothing here is locked; which slots have timers may
//! be read by others ([`Levels`]).

#[expect(
    unsafe_code,
    reason = "the entry names its own links to the intrusive list"
)]
mod entry;
#[expect(unsafe_code, reason = "lists that only the wheel touches")]
mod levels;
mod ticks;
#[expect(unsafe_code, reason = "links entries that live on waiters' stacks")]
mod wheel;

pub(crate) use entry::Timer;
pub(crate) use levels::Levels;
pub(crate) use wheel::Wheel;

#[cfg(test)]
mod tests;
