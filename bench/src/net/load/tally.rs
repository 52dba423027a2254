//! Counts and latencies of a load, and the figures from them.
//!
//! A request belongs to the window in which its answer is complete. A load by number has a
//! window from its first request to its last answer.

use std::iter;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::options::Load;

/// Maximum recorded latency in nanoseconds; longer ones count as this.
const LONGEST: u64 = 60_000_000_000;

/// The reported percentiles, in microseconds.
const PERCENTILES: [(&str, f64); 4] =
    [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)];

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

/// Processor times, or differences of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// Of the server, if its process was named.
    pub(super) server: Option<Duration>,
    /// Of this process.
    pub(super) own: Duration,
}

impl Used {
    /// Returns the time since `before`.
    pub(super) fn since(self, before: Used) -> Used {
        let server = self.server.zip(before.server);
        Used {
            server: server.map(|(now, before)| now - before),
            own: self.own - before.own,
        }
    }
}

impl Tally {
    /// Returns empty records, with separate ones for cheap requests and lags if the load has them.
    pub(super) fn new(load: &Load) -> Tally {
        Tally {
            times: histogram(),
            cheap: (load.every > 0).then(histogram),
            lag: load.rate.is_some().then(histogram),
        }
    }

    /// Clears all: the window begins.
    pub(super) fn begin(&mut self) {
        self.times.reset();
        let others = [&mut self.cheap, &mut self.lag];
        others.into_iter().flatten().for_each(Histogram::reset);
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

    /// Returns names and numbers, as a child prints them.
    pub(super) fn samples(&self, window: Duration, used: Used) -> Vec<(String, f64)> {
        let requests = self.times.len() as f64;
        let mut samples = vec![("rate".to_owned(), requests / window.as_secs_f64())];
        let others = [("cheap-", &self.cheap), ("lag-", &self.lag)];
        let others = others
            .into_iter()
            .filter_map(|(prefix, times)| Some((prefix, times.as_ref()?)));
        for (prefix, times) in iter::once(("", &self.times)).chain(others) {
            samples.extend(PERCENTILES.map(|(name, quantile)| {
                let micros = times.value_at_quantile(quantile) as f64 / 1e3;
                (format!("{prefix}{name}"), micros)
            }));
        }
        if let Some(server) = used.server {
            samples.push(("cpu".to_owned(), server.as_nanos() as f64 / requests));
        }
        let busy = used.own.as_secs_f64() / window.as_secs_f64();
        samples.push(("load".to_owned(), busy * 100.0));
        samples.push(("requests".to_owned(), requests));
        samples
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .expect("three digits are allowed in these bounds")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// No request before the window counts.
    // Proves: R4.
    #[test]
    fn a_warm_up_gives_no_figures() {
        let words = "load --port 1 --every 2 --rate 100 --requests 2";
        let load = Load::parse_from(words.split(' '));
        let mut tally = Tally::new(&load);
        tally.answered(9_000_000, false);
        tally.lagged(9_000_000);
        tally.begin();
        tally.answered(1_000, false);
        tally.lagged(2_000);
        let none = Used {
            server: None,
            own: Duration::ZERO,
        };
        let samples = tally.samples(Duration::from_secs(1), none);
        let value = |name: &str| samples.iter().find(|(series, _)| series == name);
        for (name, most) in [("requests", 1.0), ("max", 1.0), ("cheap-max", 1.0)] {
            assert_eq!(value(name).unwrap().1, most, "{name}");
        }
        assert_eq!(value("lag-max").unwrap().1.round(), 2.0);
    }
}
