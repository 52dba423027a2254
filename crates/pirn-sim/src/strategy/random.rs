//! Random walks.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

/// Each ready fiber with equal probability.
#[derive(Debug)]
pub(super) struct Random(Rng);

impl Random {
    pub(super) fn new(rng: Rng) -> Random {
        Random(rng)
    }
}

impl Choose for Random {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        self.0.usize(..choice.ready.len())
    }
}
