//! What one run of `compare` is to do.

use std::time::Duration;

use crate::case::Case;
use crate::child::Job;
use crate::peers::Peer;

/// Cases, peers and how often.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order of the table.
    pub cases: Vec<&'static Case>,
    /// In the order of the table.
    pub peers: Vec<&'static Peer>,
    /// How often each case of each peer gets a child.
    pub repetitions: usize,
    /// Rounds of a tenth the size.
    pub quick: bool,
}

impl Plan {
    /// The job for one child of `case`.
    pub fn job(&self, case: &Case) -> Job {
        let job = Job::from(case);
        match case.kind {
            kind if kind.is_gzip() => job,
            _ if self.quick => job.smaller(10),
            _ => job,
        }
    }

    /// How long one child may take.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(if self.quick { 20 } else { 120 })
    }
}
