//! Pools without threads, which the caller drives.

#[expect(
    unsafe_code,
    reason = "sets the list of jobs for the joins of a thread"
)]
pub(crate) mod by_hand;
pub(super) mod thread_end;
pub(crate) mod workers;
