//! Measures whether the machine is undisturbed: only then a bound on time can be judged.
//!
//! Other processes, and other machines on the same host, take a processor for milliseconds at a
//! time. There are three measures. While no test runs: the share of time that computing threads
//! miss between two readings of the clock, and the delay of threads that sleep for a millisecond.
//! While a test runs: the processor time that the host took (the word `steal` of /proc/stat), which
//! the test does not influence.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::parallel::{parallel, processors};

/// Duration of each of the two measurements.
const LOOK: Duration = Duration::from_millis(250);
/// Two readings of the clock that are further apart indicate an interruption.
const GAP: Duration = Duration::from_micros(200);
/// Duration of one sleep.
const NAP: Duration = Duration::from_millis(1);

/// A larger share of missing or stolen time is a disturbance.
const MISSING: f64 = 0.01;
/// A larger delay, of one wake in [`LATE_ONES`], is a disturbance.
const LATE: Duration = Duration::from_micros(700);
const LATE_ONES: usize = 50;

/// Measures of disturbance.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disturbance {
    /// The share of the time that computing threads missed.
    missing: f64,
    /// The delay of one in [`LATE_ONES`] sleeping threads.
    late: Duration,
    /// The share of the processors' time that the host took while the test ran.
    stolen: f64,
}

impl Disturbance {
    /// Returns true if it can delay a test.
    pub(crate) fn matters(&self) -> bool {
        self.missing > MISSING || self.stolen > MISSING || self.late > LATE
    }

    /// Returns the larger one of each measure.
    fn and(self, other: Disturbance) -> Disturbance {
        Disturbance {
            missing: self.missing.max(other.missing),
            late: self.late.max(other.late),
            stolen: self.stolen.max(other.stolen),
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "computing threads missed {:.1} % of the time, one sleeper in {LATE_ONES} woke {:.2} ms late, the host took \
             {:.1} %",
            100.0 * self.missing,
            1e3 * self.late.as_secs_f64(),
            100.0 * self.stolen
        )
    }
}

/// Measures for half a second. No other part of this program may run meanwhile.
pub(crate) fn look() -> Disturbance {
    let every: Vec<()> = vec![(); processors()];
    let missing = parallel(&every, every.len(), |()| missing());
    let late = parallel(&every, every.len(), |()| lateness());
    let mut late = late.concat();
    late.sort_unstable_by(|a, b| b.cmp(a));
    Disturbance {
        missing: missing.into_iter().fold(0.0, f64::max),
        late: late
            .get(late.len() / LATE_ONES)
            .copied()
            .unwrap_or_default(),
        stolen: 0.0,
    }
}

/// Runs `test` between two measurements.
pub(crate) fn around<T>(test: impl FnOnce() -> T) -> (T, Disturbance) {
    let (before, stolen, start) = (look(), stolen(), Instant::now());
    let answer = test();
    let time = start.elapsed().as_secs_f64() * processors() as f64;
    let taken = stolen_since(stolen) / time;
    let during = Disturbance {
        stolen: taken,
        ..Disturbance::default()
    };
    (answer, before.and(during).and(look()))
}

/// Returns the share of the time in gaps, for a thread that computes.
fn missing() -> f64 {
    let start = Instant::now();
    let (mut last, mut lost) = (start, Duration::ZERO);
    while last - start < LOOK {
        let now = Instant::now();
        if now - last > GAP {
            lost += now - last;
        }
        last = now;
    }
    lost.as_secs_f64() / (last - start).as_secs_f64()
}

/// Returns the delay of each wake of a sleeping thread.
fn lateness() -> Vec<Duration> {
    let start = Instant::now();
    let mut late = Vec::new();
    while start.elapsed() < LOOK {
        let from = Instant::now();
        thread::sleep(NAP);
        late.push(from.elapsed().saturating_sub(NAP));
    }
    late
}

/// Returns the seconds that the host has taken since the machine started; none if the system does
/// not report it.
fn stolen() -> Option<f64> {
    stolen_in(&fs::read_to_string("/proc/stat").ok()?)
}

fn stolen_since(before: Option<f64>) -> f64 {
    match (before, stolen()) {
        (Some(before), Some(now)) => now - before,
        _ => 0.0,
    }
}

/// Returns the eighth number of the first line, in hundredths of a second whatever the system's own
/// clock.
fn stolen_in(stat: &str) -> Option<f64> {
    let ticks: f64 = stat.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks / 100.0)
}

#[cfg(test)]
mod tests {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    #[test]
    fn reads_what_was_stolen() {
        let stat = "cpu  100 20 300 9999 9999 7 8 650 50 4\ncpu0 1 1 1 1\n";
        assert_eq!(stolen_in(stat), Some(6.5));
        assert_eq!(stolen_in("cpu  100 20"), None);
    }

    #[test]
    fn one_measure_is_enough() {
        let quiet = Disturbance::default();
        assert!(!quiet.matters());
        let late = Disturbance {
            late: 2 * LATE,
            ..quiet
        };
        assert!(late.matters() && quiet.and(late).matters());
        let (stolen, missing) = (2.0 * MISSING, 2.0 * MISSING);
        assert!(Disturbance { stolen, ..quiet }.matters());
        assert!(Disturbance { missing, ..quiet }.matters());
    }

    #[test]
    fn threads_that_compute_are_seen() {
        let over = AtomicBool::new(false);
        let seen = thread::scope(|s| {
            for _ in 0..3 * processors() {
                s.spawn(|| {
                    while !over.load(Relaxed) {
                        spin_loop();
                    }
                });
            }
            let ((), seen) = around(|| ());
            over.store(true, Relaxed);
            seen
        });
        assert!(seen.matters(), "{seen}");
    }
}
