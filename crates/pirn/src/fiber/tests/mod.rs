//! Tests of this module: `model_*` under loom; and [`stage`], which gives fibers to models of other
//! modules.

#[cfg(loom)]
#[expect(unsafe_code, reason = "a cell that the word under test must guard")]
mod fixture;
#[cfg(not(any(loom, shuttle, pirn_asan, pirn_tsan)))]
mod header;
#[cfg(not(any(loom, shuttle)))]
#[expect(unsafe_code, reason = "pushes jobs that lie in boxes")]
mod jobs;
#[cfg(loom)]
mod model_broken;
#[cfg(loom)]
#[expect(unsafe_code, reason = "gives references up one by one")]
mod model_header;
#[cfg(loom)]
#[expect(unsafe_code, reason = "gives references up")]
mod model_slab;
#[cfg(loom)]
mod model_state;
#[cfg(loom)]
mod model_token;
#[cfg(loom)]
#[expect(unsafe_code, reason = "links waiters by hand")]
mod model_waiter;
#[cfg(loom)]
#[expect(
    unsafe_code,
    reason = "headers without a slab, homes that end with their model"
)]
pub(crate) mod stage;
#[cfg(not(any(loom, shuttle)))]
mod word;
