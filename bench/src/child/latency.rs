//! Single latencies: from an event on one thread to an event on another.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::case::Kind;

use super::{Job, sample};

/// The time of an event, written on one thread and awaited on another.
#[derive(Debug, Default)]
pub struct Stamp(AtomicU64);

impl Stamp {
    /// Returns an empty stamp.
    pub const fn new() -> Stamp {
        Stamp(AtomicU64::new(0))
    }

    /// Writes the present time.
    pub fn mark(&self) {
        // ORDERING: Release pairs with the Acquire load in `get`, so that what the marking
        // thread did before is visible when the waiting one continues.
        self.0.store(now(), Ordering::Release);
    }

    /// Returns the time, once written.
    pub fn get(&self) -> Option<u64> {
        // ORDERING: Acquire pairs with the Release store in `mark`.
        let at = self.0.load(Ordering::Acquire);
        (at != 0).then_some(at)
    }

    /// Clears the stamp.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// As [`Stamp::spin`] for the first of two pushes, where many runtimes let thieves see
    /// the first one only when the second comes: counts from `second`, or from `first` if
    /// it had started before.
    pub fn spin_pair(&self, first: u64, second: u64) -> u64 {
        let nanos = self.spin(second, SHORT);
        match self.get() {
            Some(at) if at < second => at.saturating_sub(first),
            _ => nanos,
        }
    }

    /// Computes until the time is written or `limit` nanoseconds after `from` have passed. Returns
    /// the nanoseconds from `from` to that time, at most `limit`.
    pub fn spin(&self, from: u64, limit: u64) -> u64 {
        loop {
            if let Some(at) = self.get() {
                return at.saturating_sub(from).min(limit);
            }
            if now() - from >= limit {
                return limit;
            }
            spin_loop();
        }
    }

    /// As [`Stamp::spin`] with the limit of a case.
    pub fn spin_for(&self, job: &Job, from: u64) -> u64 {
        let limit = match job.kind {
            Kind::Steal => SHORT,
            _ => 10_000_000,
        };
        self.spin(from, limit)
    }
}

/// Computes for a while if the job is of this kind: before a wake, so that the worker sleeps, and
/// after the start of a child.
pub fn rest_for(job: &Job, kind: Kind) {
    if job.kind == kind {
        spin_for(Duration::from_micros(300));
    }
}

/// The latencies of a job, warm-up left out.
#[derive(Debug)]
pub struct Latency {
    warmups: u64,
    count: u64,
    seen: Vec<u64>,
}

impl Latency {
    /// Returns space for the samples of `job`.
    pub fn new(job: &Job) -> Latency {
        let count = job.warmups + job.n;
        Latency {
            warmups: job.warmups,
            count,
            seen: Vec::with_capacity(count as usize),
        }
    }

    /// Prints the times of a job from a start to the first step of what was started, each at most
    /// 10 ms. `start` returns a closure that waits for the end.
    pub fn of_starts<E: FnOnce()>(job: &Job, mut start: impl FnMut(Arc<Stamp>) -> E) {
        let mut latency = Latency::new(job);
        while latency.more() {
            let stamp = Arc::new(Stamp::new());
            let child = stamp.clone();
            rest_for(job, Kind::Wake);
            let from = now();
            let end = start(child);
            latency.push(stamp.spin_for(job, from));
            rest_for(job, Kind::BusyChild);
            end();
        }
        latency.print();
    }

    /// Prints the times of a job from `event` to its effect, which marks `stamp`.
    pub fn of_events(job: &Job, stamp: &Stamp, mut event: impl FnMut()) {
        let mut latency = Latency::new(job);
        while latency.more() {
            stamp.clear();
            rest_for(job, Kind::Wake);
            let from = now();
            event();
            latency.push(stamp.spin_for(job, from));
        }
        latency.print();
    }

    /// Returns true if more are needed.
    pub fn more(&self) -> bool {
        (self.seen.len() as u64) < self.count
    }

    /// Adds one.
    pub fn push(&mut self, nanos: u64) {
        self.seen.push(nanos);
    }

    /// Prints all as `latency`.
    pub fn print(&self) {
        for nanos in &self.seen[self.warmups as usize..] {
            sample("latency", *nanos as f64);
        }
    }

    /// Returns the clock of stamps, in nanoseconds; never 0.
    pub fn now() -> u64 {
        now()
    }
}

/// Computes on this thread for `duration`.
pub fn spin_for(duration: Duration) {
    let until = Instant::now() + duration;
    while Instant::now() < until {
        spin_loop();
    }
}

fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Limit in nanoseconds of a hand-over and of a theft.
const SHORT: u64 = 1_000_000;

/// Returns the delay of a sleep that is repeated every `period` nanoseconds, and the delays of all
/// sleeps that fell due within it: a long delay has the weight of the sleeps that it prevented.
pub fn each_due(late: u64, period: u64) -> impl Iterator<Item = u64> {
    (0..=late / period).map(move |missed| late - missed * period)
}

#[cfg(test)]
mod tests {
    use super::each_due;

    #[test]
    fn a_long_delay_counts_once_for_each_sleep_that_it_prevented() {
        let all = |late| each_due(late, 1_000).collect::<Vec<_>>();
        assert_eq!(all(300), [300]);
        assert_eq!(all(2_300), [2_300, 1_300, 300]);
        assert_eq!(all(1_000_000).len(), 1_001);
    }
}
