//! Decisions about the threads of a pool, made beside the loop of its workers.

pub(crate) mod scale;
pub(super) mod shutdown;
pub(super) mod standby;
pub(super) mod sysmon;
pub(super) mod threads;
