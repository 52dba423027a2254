//! Decisions about the threads of a pool, made beside the loop of its workers.

pub(crate) mod scale;
pub(super) mod shutdown;
pub(super) mod standby;
#[expect(unsafe_code, reason = "touches unused stacks")]
pub(super) mod startup;
pub(super) mod sysmon;
pub(super) mod threads;
