//! Tickets, waiters and their wakes.

pub(crate) mod release;
#[expect(unsafe_code, reason = "reads headers that may have been recycled")]
pub(crate) mod ticket;
#[expect(unsafe_code, reason = "waiters live on the stacks of waiting fibers")]
pub(crate) mod waiter;
mod wake;

pub(crate) use ticket::{Ticket, Wake};
pub(crate) use waiter::WaitQueue;
