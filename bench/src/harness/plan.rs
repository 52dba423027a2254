//! The plan of one run of `compare`.

use std::time::Duration;

use crate::case::Case;
use crate::child::Job;
use crate::peers::Peer;

/// Cases, peers and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order of the table.
    pub cases: Vec<&'static Case>,
    /// In the order of the table.
    pub peers: Vec<&'static Peer>,
    /// Number of children for each case of each peer.
    pub repetitions: usize,
    /// Rounds of a tenth the size.
    pub quick: bool,
}

impl Plan {
    /// Returns the job for one child of `case`.
    pub fn job(&self, case: &Case) -> Job {
        let job = Job::from(case);
        match case.kind {
            kind if kind.is_gzip() => job,
            _ if self.quick => job.smaller(10),
            _ => job,
        }
    }

    /// Returns the timeout of one child.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(if self.quick { 20 } else { 120 })
    }
}
