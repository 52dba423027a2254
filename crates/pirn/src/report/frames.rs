//! A fiber's backtrace as text, from the call that it waits in to the closure that it runs.

use std::backtrace::Backtrace;
use std::fmt;

/// The frames without those of the wait itself and of the fiber's beginning, one line each.
pub(crate) struct Frames<'a>(pub(crate) &'a Backtrace);

impl fmt::Display for Frames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let frames = parse(&text);
        for (function, place) in users(&frames) {
            writeln!(f, "        {function} {place}")?;
        }
        Ok(())
    }
}

/// The frames of a thread that was sampled: all that its fiber has called, one line each.
pub(crate) struct Sampled<'a>(pub(crate) &'a Backtrace);

impl Sampled<'_> {
    /// Returns one line for each frame, innermost first; none where nothing has a name.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = self.0.to_string();
        let frames = parse(&text);
        let visitor = frames.iter().rposition(|frame| frame.0.ends_with(VISITOR));
        let sampled = visitor.map_or(&[][..], |at| &frames[at + 1..]);
        let root = sampled.iter().position(|frame| is_in(frame.0, ROOT));
        let sampled = &sampled[..root.unwrap_or(sampled.len())];
        // The paths of std's own sources are of no use in a report.
        let own = |place: &&str| !place.starts_with("/rustc/");
        let line = |(function, place): &(&str, &str)| {
            let place = Some(*place).filter(own).unwrap_or_default();
            format!("{function} {place}").trim_end().to_owned()
        };
        sampled.iter().map(line).collect()
    }
}

/// Functions with their places in the source, as `std` writes them.
fn parse(text: &str) -> Vec<(&str, &str)> {
    let mut frames: Vec<(&str, &str)> = Vec::new();
    for line in text.lines().map(str::trim) {
        match (line.strip_prefix("at "), frames.last_mut()) {
            (Some(place), Some(last)) => last.1 = place,
            (Some(_), None) => {}
            (None, _) => frames.push((function(line), "")),
        }
    }
    frames
}

/// `function` of `12: function`.
fn function(line: &str) -> &str {
    match line.split_once(": ") {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
        _ => line,
    }
}

/// Returns the user's frames, and the library call that the first of them is in.
fn users<'a, 'b>(frames: &'a [(&'b str, &'b str)]) -> &'a [(&'b str, &'b str)] {
    let root = frames.iter().position(|frame| is_in(frame.0, ROOT));
    let frames = &frames[..root.unwrap_or(frames.len())];
    let library = |frame: &(&str, &str)| LIBRARIES.iter().any(|l| is_in(frame.0, l));
    let theirs = frames.iter().position(|frame| !library(frame));
    let ours = |frame: &(&str, &str)| is_in(frame.0, LIBRARIES[0]);
    let first = frames[..theirs.unwrap_or(frames.len())]
        .iter()
        .rposition(ours);
    &frames[first.unwrap_or(0)..]
}

/// True if `function` is in `library`, or is a method of something in it.
fn is_in(function: &str, library: &str) -> bool {
    function.trim_start_matches(['<', '&']).starts_with(library)
}

/// Libraries with frames on top of a wait.
const LIBRARIES: [&str; 4] = ["pirn::", "std::", "core::", "alloc::"];

/// The lowest frame of a sample: the function that it is visited from (`context::visit`).
const VISITOR: &str = "::landing";

/// Where every fiber begins.
const ROOT: &str = "pirn::fiber::entry";

#[cfg(test)]
mod tests {
    use super::{parse, users};

    #[test]
    fn the_users_frames_are_left() {
        let text = "   0: pirn::wait::park::park_on\n             at ./park.rs:1:2\n   \
                    1: pirn::channel::receiver::Receiver<T>::recv\n   2: user::read\n             \
                    at ./read.rs:3:4\n   3: user::main::{{closure}}\n   \
                    4: pirn::fiber::entry::run\n   5: std::panic::catch_unwind\n";
        let frames = parse(text);
        assert_eq!(frames.len(), 6);
        let expected = [
            ("pirn::channel::receiver::Receiver<T>::recv", ""),
            ("user::read", "./read.rs:3:4"),
            ("user::main::{{closure}}", ""),
        ];
        assert_eq!(users(&frames), expected);
        assert!(users(&[]).is_empty());
        let bare = [
            ("pirn::wait::park", ""),
            ("pirn::park", ""),
            ("core::call_once", ""),
        ];
        assert_eq!(users(&bare), &bare[1..]);
    }
}
