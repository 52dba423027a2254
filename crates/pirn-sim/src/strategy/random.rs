//! Random walks.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::kind::canonical;

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

/// The canonical fiber with a probability that is drawn once, or else each with equal probability.
/// Long runs of one fiber are rare in [`Random`].
#[derive(Debug)]
pub(super) struct Sticky {
    rng: Rng,
    /// The probability to choose at random.
    leaves: f64,
}

impl Sticky {
    pub(super) fn new(mut rng: Rng) -> Sticky {
        let leaves = rng.f64() / 2.0;
        Sticky { rng, leaves }
    }
}

impl Choose for Sticky {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        match self.rng.f64() < self.leaves {
            true => self.rng.usize(..choice.ready.len()),
            false => canonical(choice),
        }
    }
}
