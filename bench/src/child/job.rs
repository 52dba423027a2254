//! The job of a child.

use crate::case::{self, Case, Kind};

/// The sizes of one run of one case, chosen by the parent.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The work.
    pub kind: Kind,
    /// Number of workers.
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
    /// Returns the arguments of a child for this job of `case`.
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

    /// Parses the result of [`Job::arguments`].
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

    /// Returns the same job with `n` at most `most`.
    pub fn at_most(&self, most: u64) -> Job {
        Job {
            n: self.n.min(most),
            ..*self
        }
    }

    /// Returns the same job with rounds smaller by `factor`, for slower peers.
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
