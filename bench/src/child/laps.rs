//! Timed rounds: warm-up first, then one sample for each.

use std::time::Instant;

use super::{Job, sample};

/// Drives the rounds of a job from a loop in any kind of code, `async` or not:
/// `while laps.begin() { work; laps.end(); }`.
#[derive(Debug)]
pub struct Laps {
    warmups: u64,
    rounds: u64,
    started: Option<Instant>,
    times: Vec<f64>,
}

impl Laps {
    /// Returns the rounds of `job`.
    pub fn new(job: &Job) -> Laps {
        Laps {
            warmups: job.warmups,
            rounds: job.rounds,
            started: None,
            times: Vec::new(),
        }
    }

    /// Times all rounds of `job`.
    pub fn of(job: &Job, mut round: impl FnMut()) -> Laps {
        let mut laps = Laps::new(job);
        while laps.begin() {
            round();
            laps.end();
        }
        laps
    }

    /// Starts the clock of the next round; false when all are done.
    pub fn begin(&mut self) -> bool {
        if self.times.len() as u64 == self.warmups + self.rounds {
            return false;
        }
        self.started = Some(Instant::now());
        true
    }

    /// Stops the clock of this round.
    pub fn end(&mut self) {
        let started = self.started.take().expect("begin comes before end");
        self.times.push(started.elapsed().as_nanos() as f64);
    }

    /// Prints nanoseconds for each of `operations` in a round, as `op`.
    pub fn per_operation(&self, operations: u64) {
        self.print("op", |nanos| nanos / operations as f64);
    }

    /// Prints the first round as `cold` and the others as `warm`, per operation.
    pub fn cold_and_warm(&self, operations: u64) {
        for (index, nanos) in self.times.iter().enumerate() {
            let series = if index == 0 { "cold" } else { "warm" };
            sample(series, nanos / operations as f64);
        }
    }

    /// Prints whole rounds in milliseconds as `total`, each multiplied by `scale`.
    pub fn milliseconds(&self, scale: f64) {
        self.print("total", |nanos| nanos * 1e-6 * scale);
    }

    /// Prints millions of operations in a second as `rate`.
    pub fn rate(&self, operations: u64) {
        self.print("rate", |nanos| operations as f64 * 1e3 / nanos);
    }

    fn print(&self, series: &str, value: impl Fn(f64) -> f64) {
        for nanos in self.timed() {
            sample(series, value(*nanos));
        }
    }

    /// Returns the nanoseconds of the rounds after the warm-up.
    fn timed(&self) -> &[f64] {
        &self.times[self.warmups as usize..]
    }
}

#[cfg(test)]
mod tests {
    use super::Laps;

    // Proves: R4.
    #[test]
    fn the_warm_up_gives_no_samples() {
        let mut laps = Laps {
            warmups: 2,
            rounds: 3,
            started: None,
            times: Vec::new(),
        };
        let mut rounds = 0;
        while laps.begin() {
            rounds += 1;
            laps.end();
        }
        assert_eq!(rounds, 5);
        laps.times = vec![9.0, 8.0, 1.0, 2.0, 3.0];
        assert_eq!(laps.timed(), [1.0, 2.0, 3.0]);
    }
}
