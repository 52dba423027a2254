//! How long the processors have worked for this program's children.
//!
//! Owns: reading it. `ci` says it beside the time that a step took: a step that took as long as the
//! processors worked has left one of two idle.

use std::fs;
use std::time::Duration;

use crate::tally::seconds;

/// One tick of what the system counts in: a hundredth of a second, whatever its own clock.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of all children that have ended, and of theirs; none where the system does
/// not tell.
pub(crate) fn of_children() -> Option<Duration> {
    children_in(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The processor time of the process so far, and of those of its children that have ended.
pub(crate) fn of(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(own_in(&stat)? + children_in(&stat)?)
}

/// How much that is by now, after it was `before`; nothing where the system does not tell.
pub(crate) fn since(before: Option<Duration>) -> String {
    let worked = before.and_then(|before| of_children()?.checked_sub(before));
    worked.map(seconds).unwrap_or_default()
}

/// The sum of `cutime` and `cstime`, which are the 14th and the 15th word after the name.
fn children_in(stat: &str) -> Option<Duration> {
    two_in(stat, 13)
}

/// The sum of `utime` and `stime`, which come before those.
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
