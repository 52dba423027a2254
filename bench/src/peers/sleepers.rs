//! Many sleepers, each with a deadline of its own: the deadlines, and the delays of all wakes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::child::{Job, end, processor_time, sample};

/// The deadlines of one run and their delays.
#[derive(Debug)]
pub(super) struct Sleepers {
    first: Instant,
    window: Duration,
    /// Number of sleepers that have begun.
    begun: AtomicU64,
    /// Nanoseconds from the deadline to the wake; `ASLEEP` before it.
    late: Vec<AtomicU64>,
}

impl Sleepers {
    /// Returns the sleepers of `job`, for the rest of the process.
    pub(super) fn new(job: &Job) -> &'static Sleepers {
        let late = || AtomicU64::new(ASLEEP);
        let late = (0..job.n).map(|_| late()).collect();
        let count = u32::try_from(job.n).expect("that many fit");
        Box::leak(Box::new(Sleepers {
            first: Instant::now() + TO_SPAWN_ONE * count,
            window: GAP * count,
            begun: AtomicU64::new(0),
            late,
        }))
    }

    /// Records that one more has begun and is about to sleep.
    pub(super) fn begins(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if some have not begun. The spawner polls this until all have.
    pub(super) fn more_to_begin(&self) -> bool {
        self.begun.load(Ordering::Relaxed) < self.late.len() as u64
    }

    /// Returns the deadline of the sleeper with this number. Neighbors are far apart: the golden
    /// ratio spreads any run of numbers evenly.
    pub(super) fn deadline(&self, number: u64) -> Instant {
        let part = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64;
        self.first + self.window.mul_f64(part / (1u64 << 53) as f64)
    }

    /// Records that this sleeper has woken.
    pub(super) fn woke(&self, number: u64) {
        let late = Instant::now().checked_duration_since(self.deadline(number));
        let late = late.expect("no sleeper wakes early");
        self.late[number as usize].store(late.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Returns the processor time when all have begun. They must have begun before the first
    /// deadline, or the figures are invalid.
    pub(super) fn all_begun(&self) -> Duration {
        assert!(
            Instant::now() < self.first,
            "it took longer to start them than the time for it"
        );
        processor_time()
    }

    /// Prints the numbers and ends the process. `before` is the result of `all_begun`.
    pub(super) fn report(&self, before: Duration) -> ! {
        let used = processor_time();
        let mut late: Vec<u64> = self
            .late
            .iter()
            .map(|late| late.load(Ordering::Relaxed))
            .collect();
        late.sort_unstable();
        assert!(late.last() != Some(&ASLEEP), "all have woken");
        let at = |part: f64| late[((late.len() - 1) as f64 * part) as usize] as f64;
        sample("late-p50", at(0.5));
        sample("late-p99", at(0.99));
        sample("cpu", used.as_secs_f64() * 1e3);
        sample("cpu-wakes", (used - before).as_secs_f64() * 1e3);
        end()
    }
}

/// Interval of the spawner's polls; arbitrary.
pub(super) const PAUSE: Duration = Duration::from_millis(5);
const ASLEEP: u64 = u64::MAX;
/// Ten seconds for a million.
const GAP: Duration = Duration::from_micros(10);
/// Arbitrary: several times the time that the slowest runtime takes to start one on an idle
/// machine.
const TO_SPAWN_ONE: Duration = Duration::from_micros(12);
