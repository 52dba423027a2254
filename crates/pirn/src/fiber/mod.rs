//! Fibers: their headers, their state words, and their life from closure to outcome.
//!
//! Does not own: how a fiber waits (`wait`) or runs (`sched`). It uses both only through the trait
//! [`Schedule`].
//!
//! From below: `fiber_ptr`, and the records that point to fibers; `header`, which holds such
//! records; the files that access headers.

mod cancel;
pub(crate) mod current;
mod end_hook;
#[expect(unsafe_code, reason = "type-erased closures and results")]
pub(crate) mod entry;
#[expect(unsafe_code, reason = "a pointer to a header that is never freed")]
mod fiber_ptr;
#[expect(unsafe_code, reason = "gives references up one by one")]
mod fiber_ref;
#[expect(unsafe_code, reason = "fields owned by protocol, not by borrow")]
pub(crate) mod header;
mod id;
pub(crate) mod jobs;
pub(crate) mod local;
mod magazines;
pub(crate) mod panic_payload;
#[expect(unsafe_code, reason = "the contract of a pinned timer")]
pub(crate) mod schedule;
#[expect(unsafe_code, reason = "carves headers out of raw chunks")]
mod slab;
mod spans;
pub(crate) mod stackless;
pub(crate) mod state;
pub(crate) mod state_names;
pub(crate) mod thread_registry;
mod vtable;
mod waking;

pub(crate) use cancel::scope as cancel_scope;
pub(crate) use cancel::{deadline, token, token_registration};
pub(crate) use current::{AfterSwitch, BlockInPlace};
pub(crate) use end_hook::{EndHook, EndTable, Ending};
pub(crate) use fiber_ptr::{FiberHead, FiberPtr, FiberRef};
pub(crate) use header::{Header, Outcome, describe_owner};
pub use id::FiberId;
pub use local::FiberLocal;
pub(crate) use schedule::Schedule;
#[cfg(feature = "tracing")]
pub use spans::in_span;
pub use waking::ticket::Ticket;
pub(crate) use waking::{release, ticket, waiter};

#[cfg(test)]
pub(crate) mod tests;
