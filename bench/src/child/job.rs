//! What a child is told to do.

use crate::case::{self, Case, Kind};

/// The sizes of one run of one case, as the parent chose them.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// What to do.
    pub kind: Kind,
    /// How many workers to use.
    pub workers: usize,
    /// The size of a round.
    pub n: u64,
    /// Rounds without a sample.
    pub warmups: u64,
    /// Rounds with a sample.
    pub rounds: u64,
    /// Bytes of stack for each fiber, 0 for the default.
    pub stack: usize,
}

impl Job {
    /// The arguments that say this job of `case` to a child.
    pub fn arguments(&self, case: &Case) -> Vec<String> {
        let numbers = [
            self.workers as u64,
            self.n,
            self.warmups,
            self.rounds,
            self.stack as u64,
        ];
        let numbers = numbers.iter().map(u64::to_string);
        std::iter::once(case.name.to_owned())
            .chain(numbers)
            .collect()
    }

    /// Reads what [`Job::arguments`] wrote.
    pub fn parse(arguments: &[String]) -> Option<Job> {
        let [name, numbers @ ..] = arguments else {
            return None;
        };
        let case = case::find(name)?;
        let numbers: Vec<u64> = numbers
            .iter()
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        let [workers, n, warmups, rounds, stack] = numbers[..] else {
            return None;
        };
        Some(Job {
            kind: case.kind,
            workers: workers as usize,
            n,
            warmups,
            rounds,
            stack: stack as usize,
        })
    }

    /// The same job with rounds smaller by `factor`, for peers that are slower by that much.
    pub fn smaller(&self, factor: u64) -> Job {
        Job {
            n: (self.n / factor).max(1),
            ..*self
        }
    }
}

impl From<&Case> for Job {
    fn from(case: &Case) -> Job {
        Job {
            kind: case.kind,
            workers: case.workers,
            n: case.n,
            warmups: case.warmups,
            rounds: case.rounds,
            stack: case.stack,
        }
    }
}
