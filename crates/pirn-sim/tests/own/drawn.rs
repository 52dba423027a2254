//! Parts of programs that are drawn from the seed of the run.

use std::time::Duration;

use fastrand::Rng;

use crate::MOMENT;

/// Returns a generator of the run.
pub(crate) fn rng() -> Rng {
    Rng::with_seed(pirn_sim::seed())
}

/// Returns no time, about as long as a few choices, or a moment.
pub(crate) fn length(rng: &mut Rng) -> Duration {
    match rng.u32(..3) {
        0 => Duration::ZERO,
        1 => Duration::from_micros(rng.u64(1..40)),
        _ => MOMENT,
    }
}
