//! Probabilistic concurrency testing.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::patience::Patience;

/// The ready fiber with the highest priority runs. Priorities are drawn when a fiber is first
/// ready. At each of a few choices, drawn among the expected ones, the fiber that ran last gets a
/// priority below all that were drawn at first. The order of these low priorities is drawn too:
/// fibers that have been put off continue in any order. A fiber that asks for others to run gets a
/// priority below all others.
#[derive(Debug)]
pub(super) struct Pct {
    rng: Rng,
    /// By number of the fiber; higher runs first.
    priorities: Vec<i64>,
    /// The choices at which a priority changes, and to which one; in descending order.
    changes: Vec<(u64, i64)>,
    /// Choices so far.
    choice: u64,
    /// The lowest priority of a change.
    floor: i64,
    /// The lowest priority so far.
    lowest: i64,
    patience: Patience,
}

impl Pct {
    /// A bug of `depth` orders, in a run of about `expected` choices.
    pub(super) fn new(mut rng: Rng, depth: u32, expected: u64) -> Pct {
        // More than the expected choices would only repeat places.
        let most = u64::from(depth.saturating_sub(1)).min(expected) as i64;
        let change = |low| (rng.u64(..expected.max(1)), low);
        let mut changes: Vec<_> = (-most..0).map(change).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct {
            rng,
            priorities: Vec::new(),
            changes,
            choice: 0,
            floor: -most,
            lowest: -most,
            patience: Patience::default(),
        }
    }

    fn priority(&mut self, number: u32) -> &mut i64 {
        &mut self.priorities[number as usize]
    }
}

impl Choose for Pct {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let ready = choice.ready;
        let known = ready.iter().max().map_or(0, |most| *most as usize + 1);
        while self.priorities.len() < known {
            self.priorities.push(self.rng.i64(1..));
        }
        let now = self.choice;
        self.choice += 1;
        while let Some((_, low)) = self.changes.pop_if(|change| change.0 == now) {
            let floor = self.floor;
            if let Some(last) = choice.last
                && *self.priority(last) >= floor
            {
                *self.priority(last) = low;
            }
        }
        let asks = |last: &u32| !choice.can_continue && ready.contains(last);
        if let Some(last) = choice.last.filter(asks) {
            self.lowest -= 1;
            *self.priority(last) = self.lowest;
        }
        if self.patience.is_over(choice) {
            return 0;
        }
        let highest = |index: &usize| self.priorities[ready[*index] as usize];
        (0..ready.len()).max_by_key(highest).unwrap_or(0)
    }
}
