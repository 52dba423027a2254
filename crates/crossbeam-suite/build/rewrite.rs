//! The changes to a test file.
//!
//! | in the package | here |
//! |---|---|
//! | `crossbeam_channel` | the shim |
//! | `std::thread`, `crossbeam_utils::thread` | the shim's fibers, in that flavor |
//! | `std::sync::{Condvar, Mutex}` | those of the shim, in that flavor |
//! | `fn name() {` under `#[test]` | a call of the shim with the body as a function; in a process of its own, if it counts allocations ([`COUNTS`]) |
//!
//! Nothing else: no count, no pause, no assertion. If a forbidden text remains, or a test has
//! another form, the build fails.

use std::fmt::Write as _;

use super::exclusions::Exclusions;

/// The users of the channels: threads or fibers.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Flavor {
    Threads,
    Fibers,
}

impl Flavor {
    /// The name of the test binary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Flavor::Threads => "threads",
            Flavor::Fibers => "fibers",
        }
    }

    /// Replacements, in this order.
    fn rules(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Flavor::Threads => &[CHANNEL, CHANNEL_AS],
            Flavor::Fibers => &[
                CHANNEL,
                CHANNEL_AS,
                ("crossbeam_utils::thread", "pirn_crossbeam_suite::fibers"),
                ("use std::sync::{Arc, Condvar, Mutex};", SYNC),
                ("use std::thread::JoinHandle;", JOIN_HANDLE),
                ("use std::thread;", THREAD),
                ("std::thread::", "pirn_crossbeam_suite::fibers::"),
            ],
        }
    }

    /// Texts that must not remain.
    fn remains(self) -> &'static [&'static str] {
        match self {
            Flavor::Threads => &["crossbeam_channel::", "crossbeam_channel "],
            Flavor::Fibers => &[
                "crossbeam_channel::",
                "crossbeam_channel ",
                "crossbeam_utils",
                "std::thread",
            ],
        }
    }

    /// The function of the shim that runs a test's body.
    fn runner(self) -> &'static str {
        match self {
            Flavor::Threads => "pirn_crossbeam_suite::on_thread",
            Flavor::Fibers => "pirn_crossbeam_suite::fibers::on_fiber",
        }
    }
}

/// The package's macros as a part of the shim.
pub(crate) fn macros(text: &str) -> String {
    // An included file cannot begin with a comment about itself.
    let lines = text.lines().filter(|line| !line.starts_with("//!"));
    lines.fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").expect("a string");
        text
    })
}

/// Returns the test file for `flavor`.
pub(crate) fn tests(
    flavor: Flavor,
    file: &str,
    text: &str,
    exclusions: &mut Exclusions,
) -> String {
    let mut text = text.to_owned();
    for (old, new) in flavor.rules() {
        text = text.replace(old, new);
    }
    let mut modules = vec![file.to_owned()];
    let mut is_test = false;
    let mut made = String::new();
    let mut count = 0;
    for line in text.lines() {
        let (indent, code) = split(line);
        for word in flavor.remains() {
            let said = code.split("//").next().unwrap_or_default().contains(word);
            assert!(!said, "{file}: `{word}` is left in `{code}`");
        }
        if let Some(name) = module(line) {
            modules.truncate(1);
            modules.push(name.to_owned());
        } else if line == "}" {
            modules.truncate(1);
        }
        is_test |= code == "#[test]";
        let name = function(code).filter(|_| is_test);
        let Some(name) = name else {
            writeln!(made, "{line}").expect("a string");
            continue;
        };
        is_test = false;
        count += 1;
        let full = format!("{}::{name}", modules.join("::"));
        if let Some(reason) = exclusions.reason(flavor, &full) {
            writeln!(made, "{indent}#[ignore = {reason:?}]").expect("a string");
        }
        let runner = flavor.runner();
        let mut call = format!("::{runner}(body_of_{name})");
        if full == COUNTS {
            call = format!("::pirn_crossbeam_suite::apart({full:?}, || {call})");
        }
        writeln!(made, "{indent}fn {name}() {{ {call} }}")
            .and_then(|()| writeln!(made, "{indent}fn body_of_{name}() {{"))
            .expect("a string");
    }
    let tests = text.matches("#[test]").count();
    assert_eq!(count, tests, "{file}: tests of an unknown form");
    made
}

/// Splits a line into its leading blanks and the rest.
fn split(line: &str) -> (&str, &str) {
    let code = line.trim_start();
    (&line[..line.len() - code.len()], code)
}

/// Returns the name, if the line opens a module of the file.
fn module(line: &str) -> Option<&str> {
    line.strip_prefix("mod ")?.strip_suffix(" {")
}

/// Returns the name, if the line opens a function that a test can be.
fn function(code: &str) -> Option<&str> {
    code.strip_prefix("fn ")?.strip_suffix("() {")
}

/// The test that counts the allocations of its process, which other tests share where all of a
/// binary run side by side.
const COUNTS: &str = "golang::select2::main";
const CHANNEL: (&str, &str) = ("crossbeam_channel::", "pirn_crossbeam_suite::");
const CHANNEL_AS: (&str, &str) = ("crossbeam_channel as ", "pirn_crossbeam_suite as ");
const SYNC: &str =
    "use std::sync::Arc; use pirn_crossbeam_suite::fibers::{Condvar, Mutex};";
const THREAD: &str = "use pirn_crossbeam_suite::fibers as thread;";
const JOIN_HANDLE: &str = "use pirn_crossbeam_suite::fibers::JoinHandle;";
