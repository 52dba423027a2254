//! Counts and latencies of a load, and the figures from them.
//!
//! A request belongs to the window in which its answer is complete. A load by number has a
//! window from its first request to its last answer.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::clock::Used;
use super::{Load, Until};

/// Maximum recorded latency in nanoseconds; longer ones count as this.
const LONGEST: u64 = 60_000_000_000;

/// The records of a running load.
#[derive(Debug)]
pub(super) struct Tally {
    /// Nanoseconds from asking to the last byte of the answer, to three digits.
    times: Histogram<u64>,
    /// The same for requests that cost the server nothing, if there are others.
    cheap: Option<Histogram<u64>>,
    /// Nanoseconds by which requests with a fixed time were asked too late.
    lag: Option<Histogram<u64>>,
}

/// The results of a load.
#[derive(Clone, Debug)]
pub struct Report {
    /// Requests answered in the window.
    pub requests: u64,
    /// Its length.
    pub window: Duration,
    /// The server's processor time in it, if its process was named.
    pub processor: Option<Duration>,
    /// This process's own.
    pub own: Duration,
    /// Microseconds at the 50th, 99th, 99.9th and 100th percentile.
    pub percentiles: [f64; 4],
    /// The same for requests that cost the server nothing, if there are others.
    pub cheap: Option<[f64; 4]>,
    /// The same for how late requests with a fixed time were asked.
    pub lag: Option<[f64; 4]>,
}

impl Tally {
    /// Returns empty records, with separate ones for cheap requests and lags if the load has them.
    pub(super) fn new(load: &Load) -> Tally {
        Tally {
            times: histogram(),
            cheap: (load.every > 0).then(histogram),
            lag: matches!(load.until, Until::Paced { .. }).then(histogram),
        }
    }

    /// Clears all: the window begins.
    pub(super) fn begin(&mut self) {
        self.times.reset();
    }

    pub(super) fn answered(&mut self, nanos: u64, costly: bool) {
        self.times.saturating_record(nanos);
        if let Some(cheap) = self.cheap.as_mut().filter(|_| !costly) {
            cheap.saturating_record(nanos);
        }
    }

    /// Records the lag of a request.
    pub(super) fn lagged(&mut self, nanos: u64) {
        if let Some(lag) = &mut self.lag {
            lag.saturating_record(nanos);
        }
    }

    pub(super) fn report(&self, window: Duration, used: Used) -> Report {
        Report {
            requests: self.times.len(),
            window,
            processor: used.server,
            own: used.own,
            percentiles: percentiles(&self.times),
            cheap: self.cheap.as_ref().map(percentiles),
            lag: self.lag.as_ref().map(percentiles),
        }
    }
}

impl Report {
    /// Requests in a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.window.as_secs_f64()
    }

    /// Returns names and numbers, as a child prints them.
    pub fn samples(&self) -> Vec<(&'static str, f64)> {
        let mut samples = vec![("rate", self.rate())];
        samples.extend(
            ["p50", "p99", "p999", "max"]
                .into_iter()
                .zip(self.percentiles),
        );
        let cheap = ["cheap-p50", "cheap-p99", "cheap-p999", "cheap-max"];
        let lag = ["lag-p50", "lag-p99", "lag-p999", "lag-max"];
        for (names, values) in [(cheap, self.cheap), (lag, self.lag)] {
            samples.extend(
                values
                    .into_iter()
                    .flat_map(|four| names.into_iter().zip(four)),
            );
        }
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

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .expect("three digits are allowed in these bounds")
}

/// Returns microseconds at the four percentiles of a report.
fn percentiles(times: &Histogram<u64>) -> [f64; 4] {
    [0.5, 0.99, 0.999, 1.0].map(|quantile| times.value_at_quantile(quantile) as f64 / 1e3)
}
