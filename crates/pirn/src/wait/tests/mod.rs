//! Tests of this module: `model_*` under loom.

#[cfg(not(any(loom, shuttle)))]
mod clock;
#[cfg(loom)]
mod model_queue;
#[cfg(loom)]
mod model_regions;
#[cfg(loom)]
mod model_threads;
#[cfg(not(any(loom, shuttle)))]
mod poll_timers;

#[cfg(not(any(loom, shuttle)))]
#[expect(
    unsafe_code,
    reason = "lets fibers migrate, claims waits of other threads"
)]
mod park;
#[cfg(not(any(loom, shuttle)))]
#[expect(unsafe_code, reason = "publishes cases by hand")]
pub(crate) mod publish;
#[cfg(not(any(loom, shuttle)))]
mod reason;
#[cfg(not(any(loom, shuttle)))]
mod waitable;
