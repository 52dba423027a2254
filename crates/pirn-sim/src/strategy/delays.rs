//! Delay-bounded schedules.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::kind::canonical;
use super::patience::Patience;

/// The canonical schedule, but at a few choices, drawn among the expected ones, the canonical fiber
/// is delayed: another ready one runs.
#[derive(Debug)]
pub(super) struct Delays {
    rng: Rng,
    /// The choices with a delay, in descending order.
    delays: Vec<u64>,
    /// Choices so far.
    choice: u64,
    patience: Patience,
}

impl Delays {
    pub(super) fn new(mut rng: Rng, most: u32, expected: u64) -> Delays {
        // More than the expected choices would only repeat places.
        let most = u64::from(most).min(expected);
        let mut delays: Vec<_> = (0..most).map(|_| rng.u64(..expected.max(1))).collect();
        delays.sort_unstable_by(|a, b| b.cmp(a));
        Delays {
            rng,
            delays,
            choice: 0,
            patience: Patience::default(),
        }
    }
}

impl Choose for Delays {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let mut delayed = false;
        while self.delays.last() == Some(&self.choice) {
            self.delays.pop();
            delayed = true;
        }
        self.choice += 1;
        if self.patience.is_over(choice) {
            return 0;
        }
        let usual = canonical(choice);
        let others = choice.ready.len() - 1;
        if !delayed || others == 0 {
            return usual;
        }
        let other = self.rng.usize(..others);
        other + usize::from(other >= usual)
    }
}
