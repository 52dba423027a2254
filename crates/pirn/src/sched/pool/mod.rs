//! What the workers of one runtime share.

pub(crate) mod counters;
pub(super) mod duty;
pub(crate) mod idle;
pub(super) mod quiescence;
pub(crate) mod registry;
#[expect(unsafe_code, reason = "a word that is a running header")]
pub(super) mod remote;
#[expect(unsafe_code, reason = "touches unused stacks")]
pub(crate) mod shared;
pub(super) mod stack_waiters;
pub(crate) mod worker_state;
