//! Snapshots of fibers and workers, and their text.

#[expect(
    unsafe_code,
    reason = "the list that only the worker's own thread reaches"
)]
pub(crate) mod snapshot;
pub(crate) mod walk;
pub(crate) mod worker_info;
