//! Operations of the system that fibers wait for. Knows no worker.

#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
pub(super) mod driver;
#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(pirn_modelled, pirn_polling))
))]
#[expect(unsafe_code, reason = "operations in the frames of fibers that wait")]
mod queued;
#[cfg(not(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(pirn_modelled, pirn_polling))
)))]
#[path = "queued_none.rs"]
mod queued;
