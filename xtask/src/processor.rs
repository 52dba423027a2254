//! The processor time of this program's children.
//!
//! Owns reading it. `ci` prints it beside the duration of a step: if both are equal, one of two
//! processors was idle.

use std::fs;
use std::time::Duration;

use crate::tally::seconds;

/// One tick of the system's counters: a hundredth of a second, whatever its own clock.
const TICK: Duration = Duration::from_millis(10);

/// Returns the processor time of all ended children, and of theirs; none if the system does not
/// report it.
pub(crate) fn of_children() -> Option<Duration> {
    children_in(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Returns the processor time of the process so far, and of its ended children.
pub(crate) fn of(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(own_in(&stat)? + children_in(&stat)?)
}

/// Returns the increase since `before`; nothing if the system does not report it.
pub(crate) fn since(before: Option<Duration>) -> String {
    let worked = before.and_then(|before| of_children()?.checked_sub(before));
    worked.map(seconds).unwrap_or_default()
}

/// Returns the sum of `cutime` and `cstime`, which are the 14th and the 15th word after the name.
fn children_in(stat: &str) -> Option<Duration> {
    two_in(stat, 13)
}

/// Returns the sum of `utime` and `stime`, which come before those.
fn own_in(stat: &str) -> Option<Duration> {
    two_in(stat, 11)
}

fn two_in(stat: &str, before: usize) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(before);
    let mut ticks = || words.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_children_used() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 80 0 0 5 6 123 45 20 0 1 0 9";
        assert_eq!(children_in(stat), Some(Duration::from_millis(1_680)));
        assert_eq!(own_in(stat), Some(Duration::from_millis(110)));
        assert_eq!(children_in("7 (a) S 1"), None);
    }
}
