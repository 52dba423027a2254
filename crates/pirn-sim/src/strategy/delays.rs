//! Delay-bounded schedules.

use fastrand::Rng;
use pirn::dev::sim::{Choose, Fibers};

use super::kind::canonical;

/// The canonical schedule, but at a few choices, drawn among the expected ones, the canonical fiber
/// is delayed: another ready one runs.
///
/// A fiber that is chosen [`PATIENCE`] times in a row while others are ready is delayed too.
#[derive(Debug)]
pub(super) struct Delays {
    rng: Rng,
    /// The choices with a delay, in descending order.
    delays: Vec<u64>,
    /// Choices so far.
    choice: u64,
    in_a_row: u32,
}

impl Delays {
    pub(super) fn new(mut rng: Rng, most: u32, expected: u64) -> Delays {
        let mut delays: Vec<_> = (0..most).map(|_| rng.u64(..expected.max(1))).collect();
        delays.sort_unstable_by(|a, b| b.cmp(a));
        Delays {
            rng,
            delays,
            choice: 0,
            in_a_row: 0,
        }
    }
}

impl Choose for Delays {
    fn choose(&mut self, ready: &[u32], last: Option<u32>, _: &dyn Fibers) -> usize {
        let mut delayed = false;
        while self.delays.last() == Some(&self.choice) {
            self.delays.pop();
            delayed = true;
        }
        self.choice += 1;
        let usual = canonical(ready, last);
        self.in_a_row = match Some(ready[usual]) == last && ready.len() > 1 {
            true => self.in_a_row + 1,
            false => 0,
        };
        if (delayed || self.in_a_row > PATIENCE) && ready.len() > 1 {
            self.in_a_row = 0;
            let other = self.rng.usize(..ready.len() - 1);
            return other + usize::from(other >= usual);
        }
        usual
    }
}

/// As for `Pct`.
const PATIENCE: u32 = 500;
