//! When a report is due: once for each spawn line, then totals at growing intervals.
//!
//! Owns: the totals of each spawn line, and when the next report on it may be written.

use std::panic::Location;

/// The stalls of the fibers of one spawn line.
#[derive(Debug, Copy, Clone)]
pub(super) struct Line {
    place: &'static Location<'static>,
    /// Stalls so far.
    pub(super) stalls: u64,
    /// The sum of the longest waits of all stalls that have ended, in nanoseconds.
    pub(super) nanos: u64,
    /// The longest stall, a present one included, in nanoseconds.
    pub(super) longest: u64,
    /// When the next report may be written, as `base::clock` counts.
    due: u64,
    /// The interval between that report and the one after it.
    pause: u64,
}

/// All spawn lines that had stalls.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<Line>);

/// The interval after the first report on a spawn line.
const FIRST: u64 = 1_000_000_000;

/// Each interval is this many times the last one.
const GROWTH: u64 = 10;

/// The most spawn lines with an entry; stalls of others are all reported. Arbitrary: far more
/// than a program has that stall.
const MOST: usize = 1024;

impl Lines {
    /// Returns the entry of a spawn line. In a new entry a report is due.
    pub(super) fn entry(&mut self, place: &'static Location<'static>) -> &mut Line {
        let known = self.0.iter().position(|line| line.place == place);
        let at = known.unwrap_or_else(|| {
            self.0.truncate(MOST);
            self.0.push(Line::new(place));
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

impl Line {
    fn new(place: &'static Location<'static>) -> Line {
        Line {
            place,
            stalls: 0,
            nanos: 0,
            longest: 0,
            due: 0,
            pause: FIRST,
        }
    }

    /// Returns whether a report may be written at `now`. If so, starts the next interval.
    pub(super) fn take_turn(&mut self, now: u64) -> bool {
        let due = now >= self.due;
        if due {
            self.due = now + self.pause;
            self.pause = self.pause.saturating_mul(GROWTH);
        }
        due
    }

    /// Records that a present stall has lasted `nanos` nanoseconds.
    pub(super) fn lasts(&mut self, nanos: u64) {
        self.longest = self.longest.max(nanos);
    }

    /// Counts the end of a stall that lasted `nanos` nanoseconds.
    pub(super) fn ends(&mut self, nanos: u64) {
        self.lasts(nanos);
        self.nanos += nanos;
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, Lines};
    use std::panic::Location;

    #[test]
    fn reports_become_rare() {
        let mut lines = Lines::default();
        let here = Location::caller();
        let turns = (0..200).filter(|tenth| {
            let now = 1 + tenth * FIRST / 10;
            lines.entry(here).take_turn(now)
        });
        assert_eq!(turns.collect::<Vec<_>>(), [0, 10, 110]);
    }
}
