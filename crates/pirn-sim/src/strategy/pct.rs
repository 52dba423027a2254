//! Probabilistic concurrency testing.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::patience::Patience;

/// The ready fiber with the highest priority runs. Priorities are drawn when a fiber is first
/// ready. At each of a few choices, drawn among the expected ones, the fiber that ran last gets a
/// priority below all others. So does a fiber that asks for others to run.
#[derive(Debug)]
pub(super) struct Pct {
    rng: Rng,
    /// By number of the fiber; higher runs first.
    priorities: Vec<i64>,
    /// The choices at which a priority changes, in descending order.
    changes: Vec<u64>,
    /// Choices so far.
    choice: u64,
    /// The next lower priority than all others.
    lowest: i64,
    patience: Patience,
}

impl Pct {
    /// A bug of `depth` orders, in a run of about `expected` choices.
    pub(super) fn new(mut rng: Rng, depth: u32, expected: u64) -> Pct {
        // More than the expected choices would only repeat places.
        let most = u64::from(depth.saturating_sub(1)).min(expected);
        let mut changes: Vec<_> = (0..most).map(|_| rng.u64(..expected.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct {
            rng,
            priorities: Vec::new(),
            changes,
            choice: 0,
            lowest: 0,
            patience: Patience::default(),
        }
    }

    fn demote(&mut self, number: u32) {
        self.lowest -= 1;
        self.priorities[number as usize] = self.lowest;
    }
}

impl Choose for Pct {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let ready = choice.ready;
        let known = ready.iter().max().map_or(0, |most| *most as usize + 1);
        while self.priorities.len() < known {
            self.priorities.push(self.rng.i64(1..));
        }
        let mut is_due = false;
        while self.changes.last() == Some(&self.choice) {
            self.changes.pop();
            is_due = true;
        }
        self.choice += 1;
        let asks = |last: &u32| !choice.can_continue && ready.contains(last);
        if let Some(last) = choice.last.filter(|last| is_due || asks(last)) {
            self.demote(last);
        }
        if self.patience.is_over(choice) {
            return 0;
        }
        let highest = |index: &usize| self.priorities[ready[*index] as usize];
        (0..ready.len()).max_by_key(highest).unwrap_or(0)
    }
}
