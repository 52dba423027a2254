//! The work of a child, and its arguments.

use super::{Case, Kind, find};

/// The work of a case and the sizes of one run of it.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The work.
    pub kind: Kind,
    /// Workers, and processors that the child may use.
    pub workers: usize,
    /// The size of one round; see [`Kind`].
    pub n: u64,
    /// Rounds that are run before the first sample.
    pub warmups: u64,
    /// Rounds that give a sample.
    pub rounds: u64,
    /// Bytes of stack for each fiber, 0 for the default.
    pub stack: usize,
}

impl Job {
    /// Returns the arguments of a child for this job of `case`.
    pub fn arguments(&self, case: &Case) -> Vec<String> {
        let Job {
            workers,
            n,
            warmups,
            rounds,
            stack,
            ..
        } = self;
        let all = format!("{} {workers} {n} {warmups} {rounds} {stack}", case.name);
        all.split(' ').map(str::to_owned).collect()
    }

    /// Parses the result of [`Job::arguments`].
    pub fn parse(arguments: &[String]) -> Option<Job> {
        let [name, workers, n, warmups, rounds, stack] = arguments else {
            return None;
        };
        Some(Job {
            kind: find(name)?.job.kind,
            workers: workers.parse().ok()?,
            n: n.parse().ok()?,
            warmups: warmups.parse().ok()?,
            rounds: rounds.parse().ok()?,
            stack: stack.parse().ok()?,
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
