//! Counts and times: what a load has seen, and what it makes of it.
//!
//! A request belongs to the window in which its answer is complete. A load by number has a
//! window from its first request to its last answer.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::clock::Used;

/// Nanoseconds that count as themselves; what takes longer counts as these.
const LONGEST: u64 = 60_000_000_000;

/// What is written down while the load runs.
#[derive(Debug)]
pub(super) struct Tally {
    /// Nanoseconds from asking to the last byte of the answer, to three digits.
    times: Histogram<u64>,
}

/// What a load found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Requests answered in the window.
    pub requests: u64,
    /// How long it was.
    pub window: Duration,
    /// The server's processor time in it, if its process was named.
    pub processor: Option<Duration>,
    /// This process's own.
    pub own: Duration,
    /// Microseconds at the 50th, 99th, 99.9th and 100th percentile.
    pub percentiles: [f64; 4],
}

impl Tally {
    pub(super) fn new() -> Tally {
        let times = Histogram::new_with_bounds(1, LONGEST, 3)
            .expect("three digits are allowed in these bounds");
        Tally { times }
    }

    /// Forgets all: the window begins.
    pub(super) fn begin(&mut self) {
        self.times.reset();
    }

    pub(super) fn answered(&mut self, nanos: u64) {
        self.times.saturating_record(nanos);
    }

    pub(super) fn report(&self, window: Duration, used: Used) -> Report {
        let micros = |quantile| self.times.value_at_quantile(quantile) as f64 / 1e3;
        Report {
            requests: self.times.len(),
            window,
            processor: used.server,
            own: used.own,
            percentiles: [0.5, 0.99, 0.999, 1.0].map(micros),
        }
    }
}

impl Report {
    /// Requests in a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.window.as_secs_f64()
    }

    /// Names and numbers, as a child prints them.
    pub fn samples(&self) -> Vec<(&'static str, f64)> {
        let mut samples = vec![("rate", self.rate())];
        samples.extend(
            ["p50", "p99", "p999", "max"]
                .into_iter()
                .zip(self.percentiles),
        );
        if let Some(processor) = self.processor {
            let each = processor.as_nanos() as f64 / self.requests as f64;
            samples.push(("cpu", each));
        }
        let busy = self.own.as_secs_f64() / self.window.as_secs_f64();
        samples.push(("load", busy * 100.0));
        samples.push(("requests", self.requests as f64));
        samples
    }
}
