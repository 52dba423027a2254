//! Snapshots of fibers and workers, and their text.

#[expect(unsafe_code, reason = "reads the headers of fibers that do not run")]
pub(crate) mod fiber_info;
pub(super) mod fiber_text;
pub(super) mod frames;
#[expect(
    unsafe_code,
    reason = "the list that only the worker's own thread reaches"
)]
pub(crate) mod snapshot;
pub(crate) mod summary;
pub(crate) mod walk;
pub(crate) mod worker_info;
