//! The values in the channels of a select: enough that none is empty during the measurement, and a
//! sum that checks that each value was received once.

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
    /// Returns enough values for the selects of `job`, each of which takes one of `ways` channels
    /// at random: a quarter more than their even share. That is more than ten standard deviations
    /// for 2,000 selects and more.
    pub(super) fn new(job: &Job, ways: usize) -> Stock {
        Stock {
            ways,
            each: job.n / ways as u64 * 5 / 4 + 200,
            next: 0,
            inside: 0,
        }
    }

    /// Values for each channel in a round.
    pub(super) fn each(&self) -> usize {
        self.each as usize
    }

    /// Sends the values of a round.
    pub(super) fn fill(&mut self, mut put: impl FnMut(usize, u64)) {
        for _ in 0..self.each {
            for way in 0..self.ways {
                put(way, self.next);
                self.inside += self.next;
                self.next += 1;
            }
        }
    }

    /// Receives the remaining values of a round, and checks them against the received ones.
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
