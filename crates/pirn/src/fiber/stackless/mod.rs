//! Stackless fibers: fresh ones that found no stack, and the waiters that may borrow one for them.

#[expect(unsafe_code, reason = "calls what an end hook says")]
mod marks;
pub(super) mod words;

pub(crate) use marks::{begin, end};
pub(crate) use words::{BorrowTarget, StackOwner};
