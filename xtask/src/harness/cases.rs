//! Which tests a binary holds.
//!
//! A case is named `binary test::path`, as in `pirn::machine spawn::many_joiners`; that name is
//! what `docs/features.md` and `docs/models.md` refer to.

use std::collections::BTreeSet;
use std::process::Command;
use std::rc::Rc;

use super::build::Binary;
use crate::command;

/// One test of one binary.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) binary: Rc<Binary>,
    /// The test's path inside the binary.
    pub(crate) name: String,
    /// Marked `#[ignore]`: runs only where it is asked for.
    pub(crate) ignored: bool,
}

impl Case {
    /// `binary test::path`.
    pub(crate) fn id(&self) -> String {
        format!("{} {}", self.binary.id, self.name)
    }

    /// True when the test wants the machine to itself: memory by the gigabyte, or timing.
    pub(crate) fn is_alone(&self) -> bool {
        self.name.contains("alone_")
    }

    /// True when the test sleeps for nearly all of its time, a quarter of a minute: it takes nobody's turn.
    pub(crate) fn is_asleep(&self) -> bool {
        self.name.contains("stays_idle")
    }

    /// True when the test does so much that a slowed-down build leaves it to full runs.
    pub(crate) fn is_storm(&self) -> bool {
        self.name.contains("storm")
    }

    /// The command that runs this test and no other.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary.path);
        command.current_dir(&self.binary.home);
        command.env("CARGO_MANIFEST_DIR", &self.binary.home);
        command.envs(self.binary.env.iter().map(|(k, v)| (k, v)));
        command.args(["--exact", &self.name, "--test-threads=1"]);
        if self.ignored {
            command.arg("--ignored");
        }
        command
    }
}

/// Asks every binary for its tests.
///
/// # Errors
/// When a binary cannot be run.
pub(crate) fn cases(binaries: &[Rc<Binary>]) -> Result<Vec<Case>, String> {
    let mut all = Vec::new();
    for binary in binaries {
        let ignored: BTreeSet<_> = list(binary, &["--ignored"])?.into_iter().collect();
        for name in list(binary, &[])? {
            let ignored = ignored.contains(&name);
            all.push(Case {
                binary: Rc::clone(binary),
                name,
                ignored,
            });
        }
    }
    Ok(all)
}

fn list(binary: &Binary, which: &[&str]) -> Result<Vec<String>, String> {
    let mut command = Command::new(&binary.path);
    command
        .current_dir(&binary.home)
        .args(["--list", "--format", "terse"])
        .args(which);
    command.envs(binary.env.iter().map(|(k, v)| (k, v)));
    Ok(names(&command::output(&mut command)?))
}

fn names(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter_map(|l| l.strip_suffix(": test"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_listing() {
        assert_eq!(names("a::b: test\nc: benchmark\nd: test\n"), ["a::b", "d"]);
    }
}
