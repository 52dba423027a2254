//! How many stalls there were, and how long fibers waited in them.

use std::time::Duration;

use crate::sched::pool::counters::Counter;

/// Buckets of the histogram: up to 1 ms, 2 ms, 4 ms … 2^20 ms (17 minutes), and the rest.
const BUCKETS: usize = 22;

/// The counts of one pool. Written by its monitor.
#[derive(Debug, Default)]
pub(in crate::observe) struct StallCounts {
    found: Counter,
    /// The longest wait of each stall that has ended, as a histogram.
    delays: [Counter; BUCKETS],
    nanos: Counter,
}

impl StallCounts {
    /// Counts a new stall.
    pub(super) fn begin(&self) {
        self.found.increment_shared();
    }

    /// Counts the end of a stall, and how many nanoseconds it took.
    pub(super) fn end(&self, nanos: u64) {
        let bucket = (0..BUCKETS - 1).position(|bucket| nanos <= bound(bucket));
        self.delays[bucket.unwrap_or(BUCKETS - 1)].increment();
        self.nanos.add(nanos);
    }

    /// The number of stalls.
    pub(in crate::observe) fn found(&self) -> u64 {
        self.found.get()
    }

    /// The sum of the longest waits of all stalls that have ended.
    pub(in crate::observe) fn waited(&self) -> Duration {
        Duration::from_nanos(self.nanos.get())
    }

    /// The histogram of stalls that have ended: the upper bound of each bucket
    /// ([`Duration::MAX`] for the last), and the number of stalls in it.
    pub(in crate::observe) fn delays(&self) -> Vec<(Duration, u64)> {
        let delays = self.delays.iter().enumerate();
        let bounded = delays.map(|(bucket, count)| {
            let bound = match bucket {
                bucket if bucket + 1 < BUCKETS => Duration::from_nanos(bound(bucket)),
                _ => Duration::MAX,
            };
            (bound, count.get())
        });
        bounded.collect()
    }
}

/// The upper bound of a bucket, in nanoseconds.
fn bound(bucket: usize) -> u64 {
    1_000_000 << bucket
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, StallCounts, bound};

    #[test]
    #[cfg(not(pirn_modelled))]
    fn delays_are_sorted() {
        let counts = StallCounts::default();
        counts.end(1);
        counts.end(bound(7));
        counts.end(bound(7) + 1);
        counts.end(u64::MAX / 2);
        let delays: Vec<u64> = counts.delays.iter().map(|count| count.get()).collect();
        let mut expected = vec![0; BUCKETS];
        for bucket in [0, 7, 8, BUCKETS - 1] {
            expected[bucket] = 1;
        }
        assert_eq!(delays, expected);
    }
}
