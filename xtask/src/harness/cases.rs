//! The tests of a binary.
//!
//! A case is named `binary test::path`, as in `pirn::machine spawn::many_joiners`; that name is
//! what `docs/features.md` and `docs/models.md` refer to.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use super::build::{Binary, Build};
use crate::command;

/// One test of one binary.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) binary: Arc<Binary>,
    /// The test's path inside the binary.
    pub(crate) name: String,
    /// The reason of its `#[ignore]`, if it has one: it runs only on request.
    pub(crate) ignored: Option<String>,
    /// Marked `#[ignore]`, for this reason or because plain `cargo test` must leave it out.
    marked: bool,
}

/// The beginning of the reason of a test that only plain `cargo test`, which runs many at once in
/// one process, leaves out.
const ALONE: &str = "alone: ";

impl Case {
    /// Returns the same with an additional environment variable.
    pub(crate) fn env(&self, name: &str, value: &str) -> Case {
        let mut binary = Binary::clone(&self.binary);
        binary.env.push((name.to_owned(), value.into()));
        Case {
            binary: Arc::new(binary),
            ..self.clone()
        }
    }

    /// `binary test::path`.
    pub(crate) fn id(&self) -> String {
        format!("{} {}", self.binary.id, self.name)
    }

    /// Returns true when the test needs the machine to itself: it uses gigabytes of memory, or
    /// bounds times.
    pub(crate) fn is_alone(&self) -> bool {
        self.name.contains("alone_")
    }

    /// Returns true when the test sleeps for nearly all of its time, a quarter of a minute: it
    /// delays no other test.
    pub(crate) fn is_asleep(&self) -> bool {
        self.name.contains("stays_idle")
    }

    /// Returns true when the test runs a compiler for half a minute and more: it starts first, or
    /// the others would end long before it.
    pub(crate) fn compiles(&self) -> bool {
        self.binary.id.ends_with("::ui")
    }

    /// Returns true if the test is long, and left out of quick runs.
    pub(crate) fn is_storm(&self) -> bool {
        self.name.contains("storm")
    }

    /// Returns the command that runs only this test.
    pub(crate) fn command(&self, backtraces: bool) -> Command {
        let mut command = program(&self.binary);
        if !backtraces {
            command.env("RUST_BACKTRACE", "0");
        }
        command.env("CARGO_MANIFEST_DIR", &self.binary.home);
        // A test that hangs is killed, and what libtest has captured would be lost.
        command.args(["--exact", &self.name, "--test-threads=1", "--nocapture"]);
        if self.marked {
            command.arg("--ignored");
        }
        command
    }
}

/// Builds, and lists the tests of every binary.
///
/// # Errors
/// When it does not build, or a binary cannot be run.
pub(crate) fn cases(build: &Build) -> Result<Vec<Case>, String> {
    let mut all = Vec::new();
    for binary in build.binaries()? {
        let ignored = reasons(&binary)?;
        for name in list(&binary, &[])? {
            let reason = ignored.get(&name);
            all.push(Case {
                binary: Arc::clone(&binary),
                name,
                ignored: reason.filter(|reason| !reason.starts_with(ALONE)).cloned(),
                marked: reason.is_some(),
            });
        }
    }
    Ok(all)
}

fn program(binary: &Binary) -> Command {
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.home);
    command.envs(binary.env.iter().map(|(name, value)| (name, value)));
    command
}

/// Returns the tests that are marked `#[ignore]`, with the reasons. A binary reports a reason only
/// when it skips the test.
fn reasons(binary: &Binary) -> Result<BTreeMap<String, String>, String> {
    let ignored = list(binary, &["--ignored"])?;
    if ignored.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut command = program(binary);
    command.args(["--exact", "--test-threads=1"]).args(&ignored);
    let said = command::output(&mut command)?;
    let reason = |name: String| {
        let reason = reason_in(&said, &name).to_owned();
        (name, reason)
    };
    Ok(ignored.into_iter().map(reason).collect())
}

/// Returns the reason of an ignored test, from the output of its binary.
fn reason_in<'a>(said: &'a str, name: &str) -> &'a str {
    let line = |line: &'a str| {
        let rest = line.strip_prefix("test ")?.strip_prefix(name)?;
        rest.strip_prefix(" ... ignored, ")
    };
    said.lines().find_map(line).unwrap_or("ignored")
}

fn list(binary: &Binary, which: &[&str]) -> Result<Vec<String>, String> {
    let mut command = program(binary);
    command.args(["--list", "--format", "terse"]).args(which);
    Ok(names(&command::output(&mut command)?))
}

fn names(listing: &str) -> Vec<String> {
    let names = listing.lines().filter_map(|l| l.strip_suffix(": test"));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_why_a_test_is_ignored() {
        let said =
            "running 2 tests\ntest a::b ... ignored, a storm\ntest a::c ... ignored\n";
        assert_eq!(reason_in(said, "a::b"), "a storm");
        assert_eq!(reason_in(said, "a::c"), "ignored");
    }

    #[test]
    fn reads_a_listing() {
        assert_eq!(names("a::b: test\nc: benchmark\nd: test\n"), ["a::b", "d"]);
    }
}
