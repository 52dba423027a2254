//! Measures the processor time of other processes, so that figures of a busy machine are marked as
//! such.
//!
//! The load in /proc/loadavg is useless between cases: it covers the last minute, and so the case
//! before.

use std::fs;
use std::thread;
use std::time::Duration;

/// Duration of the measurement.
const WINDOW: Duration = Duration::from_millis(300);

/// Maximum of processors used by others on a quiet machine.
const QUIET: f64 = 0.1;

/// Ticks of /proc/stat in a second, whatever the system's own clock.
const TICKS: f64 = 100.0;

/// Returns true if this number of busy processors is small enough.
pub fn is_quiet(others: f64) -> bool {
    others <= QUIET
}

/// Returns the number of processors that others use at present. This process sleeps meanwhile, and
/// must have no children that compute. `None` if the system does not report it.
pub fn others() -> Option<f64> {
    let before = busy()?;
    thread::sleep(WINDOW);
    Some((busy()? - before) / WINDOW.as_secs_f64())
}

/// Returns the busy time of all processors since the machine started, in seconds.
fn busy() -> Option<f64> {
    busy_in(&fs::read_to_string("/proc/stat").ok()?)
}

/// The first line has user, nice, system, then idle and waiting, which are left out, then
/// interrupts and the time stolen by other machines. Later words are part of the first two.
fn busy_in(stat: &str) -> Option<f64> {
    let words = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace();
    let ticks: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, _, _, rest @ ..] = &ticks[..] else {
        return None;
    };
    Some((user + nice + system + rest.iter().take(3).sum::<f64>()) / TICKS)
}

#[cfg(test)]
mod tests {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    #[test]
    fn idle_time_is_not_busy() {
        let stat = "cpu  100 20 300 9999 9999 7 8 65 50 4\ncpu0 1 1 1 1\n";
        assert_eq!(busy_in(stat), Some(5.0));
        assert_eq!(busy_in("intr 1"), None);
    }

    #[test]
    fn a_tenth_of_a_processor_is_quiet() {
        assert!(is_quiet(0.0) && is_quiet(0.1) && !is_quiet(0.2));
    }

    #[test]
    fn a_busy_processor_is_seen() {
        let stop = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    spin_loop();
                }
            });
            let seen = others();
            stop.store(true, Relaxed);
            seen
        });
        assert!(seen.is_none_or(|others| !is_quiet(others)), "{seen:?}");
    }
}
