//! The processor time of other processes, and of the host's other machines, during a measurement.

use std::fs;
use std::time::{Duration, Instant};

/// A share of the processors that makes a measurement worthless: it takes more time from one of
/// two processors than the bounds allow.
const TOO_MUCH: f64 = 0.025;

/// Ticks of processor time: `USER_HZ`, which is 100 on every system that has `/proc`.
const TICK: Duration = Duration::from_millis(10);

/// The start of a measurement.
pub(crate) struct Others {
    ticks: Option<u64>,
    since: Instant,
}

impl Others {
    /// Begins a measurement.
    pub(crate) fn begin() -> Others {
        Others {
            ticks: ticks_of_others(),
            since: Instant::now(),
        }
    }

    /// Returns true if others have used so much processor time since the beginning that times which
    /// were measured meanwhile prove nothing. False on systems that do not report it.
    pub(crate) fn disturbed(&self) -> bool {
        let (Some(before), Some(now)) = (self.ticks, ticks_of_others()) else {
            return false;
        };
        let processors = std::thread::available_parallelism().unwrap().get();
        let all = self.since.elapsed().as_secs_f64() * processors as f64;
        let used = now.saturating_sub(before) as f64 * TICK.as_secs_f64();
        used > all * TOO_MUCH + TICK.as_secs_f64()
    }
}

/// Returns the ticks that all processors have spent outside of this process, except idle ones.
fn ticks_of_others() -> Option<u64> {
    let all = fs::read_to_string("/proc/stat").ok()?;
    // user nice system idle iowait irq softirq steal
    let words: Vec<u64> = all
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .map_while(|word| word.parse().ok())
        .collect();
    let busy = words.get(..8)?.iter().sum::<u64>() - words[3] - words[4];
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    // What follows the name begins with the third word; user and system time are words 14 and 15.
    let own: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
    let own = own.get(11)?.parse::<u64>().ok()? + own.get(12)?.parse::<u64>().ok()?;
    busy.checked_sub(own)
}

/// Measures `n` times, and again for each measurement that others disturb, at most `n` times more.
/// Returns the measurements and how many were repeated.
pub(crate) fn measure<T>(n: usize, mut one: impl FnMut() -> T) -> (Vec<T>, usize) {
    let (mut all, mut repeated) = (Vec::new(), 0);
    while all.len() < n {
        let others = Others::begin();
        let measured = one();
        if others.disturbed() && repeated < n {
            repeated += 1;
        } else {
            all.push(measured);
        }
    }
    (all, repeated)
}
