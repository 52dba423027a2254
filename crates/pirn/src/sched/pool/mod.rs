//! What the workers of one runtime share.

pub(crate) mod counters;
pub(crate) mod idle;
pub(super) mod quiescence;
pub(crate) mod registry;
pub(super) mod remote;
#[expect(unsafe_code, reason = "touches stacks that nobody uses")]
pub(crate) mod shared;
pub(super) mod stack_waiters;
