//! The data that the workers of one runtime share.

pub(super) mod arrivals;
pub(crate) mod counters;
pub(crate) mod idle;
pub(crate) mod phase;
pub(super) mod quiescence;
pub(crate) mod registry;
#[expect(unsafe_code, reason = "a word that is a running header")]
pub(crate) mod remote;
pub(super) mod requests;
pub(crate) mod shared;
pub(super) mod stack_waiters;
pub(crate) mod threads;
pub(crate) mod view;
pub(crate) mod worker_state;
