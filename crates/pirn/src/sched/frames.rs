//! A parked fiber's backtrace as text, from where the user's code waits.

use std::backtrace::Backtrace;
use std::fmt;

/// The frames without those of the wait itself, one line each.
pub(super) struct Frames<'a>(pub(super) &'a Backtrace);

impl fmt::Display for Frames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let mut frames: Vec<(&str, &str)> = Vec::new();
        for line in text.lines().map(str::trim) {
            match (line.strip_prefix("at "), frames.last_mut()) {
                (Some(place), Some(last)) => last.1 = place,
                (None, _) => frames.push((function(line), "")),
                (Some(_), None) => {}
            }
        }
        let waits =
            |frame: &(&str, &str)| WAITING.iter().any(|room| frame.0.contains(room));
        let first = frames.iter().rposition(waits).map_or(0, |last| last + 1);
        let ends = |frame: &(&str, &str)| frame.0.contains(ROOT);
        let end = frames.iter().position(ends).unwrap_or(frames.len());
        for (function, place) in frames.get(first..end).unwrap_or_default() {
            writeln!(f, "        {function} {place}")?;
        }
        Ok(())
    }
}

/// `function` of `12: function`.
fn function(line: &str) -> &str {
    match line.split_once(": ") {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
        _ => line,
    }
}

/// Rooms whose frames are those of a wait.
const WAITING: [&str; 4] = [
    "pirn::wait::park",
    "pirn::wait::queue",
    "pirn::context::",
    "pirn::sched::",
];

/// The outermost frame of every fiber is below this one.
const ROOT: &str = "pirn::fiber::entry";
