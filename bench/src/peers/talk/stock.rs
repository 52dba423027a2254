//! What lies in the channels that a select chooses from: enough that none runs dry while the
//! clock runs, and a sum that tells whether all of it came out once.

use crate::child::Job;

/// The values of one round.
#[derive(Debug)]
pub(super) struct Stock {
    ways: usize,
    each: u64,
    next: u64,
    inside: u64,
}

impl Stock {
    /// Enough for the selects of `job`, each of which takes one of `ways` channels by chance:
    /// a quarter more than their even share. That is more than ten standard deviations for
    /// 2,000 selects and more.
    pub(super) fn new(job: &Job, ways: usize) -> Stock {
        Stock {
            ways,
            each: job.n / ways as u64 * 5 / 4 + 200,
            next: 0,
            inside: 0,
        }
    }

    /// Values for each channel that a round may want.
    pub(super) fn each(&self) -> usize {
        self.each as usize
    }

    /// Puts the values of a round in.
    pub(super) fn fill(&mut self, mut put: impl FnMut(usize, u64)) {
        for _ in 0..self.each {
            for way in 0..self.ways {
                put(way, self.next);
                self.inside += self.next;
                self.next += 1;
            }
        }
    }

    /// Takes out what a round has left, and holds it against what the round has taken.
    pub(super) fn taken(&mut self, sum: u64, mut take: impl FnMut(usize) -> Option<u64>) {
        let mut left = 0;
        for way in 0..self.ways {
            let before = left;
            while let Some(value) = take(way) {
                left += value;
            }
            assert!(left > before, "a channel ran dry");
        }
        assert_eq!(sum + left, self.inside, "a value was lost or came twice");
        self.inside = 0;
    }
}
