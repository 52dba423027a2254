//! Probabilistic concurrency testing.

use fastrand::Rng;
use pirn::dev::sim::{Choose, Fibers};

/// The ready fiber with the highest priority runs. Priorities are drawn when a fiber is first
/// ready. At each of a few choices, drawn among the expected ones, the fiber that ran last gets a
/// priority below all drawn ones.
///
/// A fiber that is chosen [`PATIENCE`] times in a row while others are ready gets the lowest one: it
/// may be waiting in a loop for one of them.
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
    in_a_row: u32,
}

impl Pct {
    /// A bug of `depth` orders, in a run of about `expected` choices.
    pub(super) fn new(mut rng: Rng, depth: u32, expected: u64) -> Pct {
        let mut changes: Vec<_> =
            (1..depth).map(|_| rng.u64(..expected.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct {
            rng,
            priorities: Vec::new(),
            changes,
            choice: 0,
            lowest: 0,
            in_a_row: 0,
        }
    }

    fn demote(&mut self, number: u32) {
        self.lowest -= 1;
        self.priorities[number as usize] = self.lowest;
        self.in_a_row = 0;
    }
}

impl Choose for Pct {
    fn choose(&mut self, ready: &[u32], last: Option<u32>, _: &dyn Fibers) -> usize {
        let known = ready.iter().max().map_or(0, |most| *most as usize + 1);
        while self.priorities.len() < known {
            self.priorities.push(self.rng.i64(1..));
        }
        while self.changes.last() == Some(&self.choice) {
            self.changes.pop();
            if let Some(last) = last {
                self.demote(last);
            }
        }
        if let Some(last) = last.filter(|_| self.in_a_row >= PATIENCE) {
            self.demote(last);
        }
        self.choice += 1;
        let highest = |index: &usize| self.priorities[ready[*index] as usize];
        let chosen = (0..ready.len()).max_by_key(highest).unwrap_or(0);
        match Some(ready[chosen]) == last && ready.len() > 1 {
            true => self.in_a_row += 1,
            false => self.in_a_row = 0,
        }
        chosen
    }
}

/// Choices in a row after which a fiber counts as waiting in a loop. Arbitrary: tests rarely have a
/// fiber that completes more operations while others are ready.
const PATIENCE: u32 = 500;
