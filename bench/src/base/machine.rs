//! The machine and the versions behind the figures.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;

use super::step;

/// The facts that accompany every figure.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// Number of processors.
    pub processors: usize,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// The kernel's release.
    pub kernel: String,
    /// The load averages over 1, 5 and 15 minutes, read before the run: other work on the machine.
    pub load: String,
    /// The compiler.
    pub compiler: String,
    /// The peers with their versions.
    pub versions: Vec<String>,
    /// The commit, with `+` if tracked files have changes that are not committed.
    pub commit: String,
    /// The command line.
    pub command: String,
}

impl Machine {
    /// Collects the facts of this run.
    pub fn here() -> Machine {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let memory = value(&meminfo, "MemTotal");
        let kib: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let commit = ask("git", &["rev-parse", "--short", "HEAD"]);
        let changed = !ask("git", &["status", "--porcelain", "-uno"]).is_empty();
        Machine {
            processor: value(&cpuinfo, "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: (kib + (1 << 19)) >> 20,
            kernel: kernel.trim().to_owned(),
            load: load(),
            compiler: ask("rustc", &["--version"]),
            versions: locked(include_str!("../../Cargo.lock")),
            commit: format!("{commit}{}", if changed { "+" } else { "" }),
            command: command(),
        }
    }

    /// Returns the facts with their names.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "machine",
                format!("{} × {}", self.processors, self.processor),
            ),
            ("memory", format!("{} GiB", self.memory_gib)),
            ("kernel", format!("Linux {}", self.kernel)),
            ("load before", self.load.clone()),
            ("compiler", self.compiler.clone()),
            ("peers", self.versions.join(", ")),
            ("commit", self.commit.clone()),
            ("command", self.command.clone()),
        ]
    }
}

/// The peers that are crates, and the crates that the measurements use.
const CRATES: [&str; 12] = [
    "chili",
    "corosensei",
    "crossbeam",
    "flate2",
    "flume",
    "hyper",
    "kanal",
    "may",
    "rayon",
    "shuttle",
    "smol",
    "tokio",
];

/// Returns each of [`CRATES`] with its version in the lock file.
fn locked(lock: &str) -> Vec<String> {
    let version = |name: &&str| {
        let (_, package) = lock.split_once(&format!("name = \"{name}\"\n"))?;
        let version = package.lines().next()?.strip_prefix("version = ")?;
        Some(format!("{name} {}", version.trim_matches('"')))
    };
    CRATES.iter().filter_map(version).collect()
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Returns the command line with the program's name alone, not its path, and without the files for
/// verdicts and of `kv`, which have paths of this machine.
fn command() -> String {
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    let mut said = vec![program.rsplit('/').next().unwrap_or_default().to_owned()];
    while let Some(word) = words.next() {
        match word.as_str() {
            "--verdicts" | "--kv" => _ = words.next(),
            _ if word.starts_with("--verdicts=") => {}
            _ => said.push(word),
        }
    }
    said.join(" ")
}

/// Returns the trimmed output of a program, or an empty string if it is missing or fails.
fn ask(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    let said = step(command.current_dir(env!("CARGO_MANIFEST_DIR")));
    said.unwrap_or_default().trim().to_owned()
}

fn value(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':'));
    value
        .map_or("unknown", |(_, value)| value.trim())
        .to_owned()
}

/// Returns the target directory that contains this program.
pub fn target_directory() -> PathBuf {
    let here = std::env::current_exe().expect("a running program has a path");
    // TARGET/PROFILE/PROGRAM
    here.ancestors()
        .nth(2)
        .expect("programs are in TARGET/PROFILE")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_has_a_version() {
        let versions = locked(include_str!("../../Cargo.lock"));
        assert_eq!(versions.len(), CRATES.len(), "{versions:?}");
        let lock = "name = \"hyper-util\"\nversion = \"0.1\"\nname = \"hyper\"\nversion = \"1.2\"\n";
        assert_eq!(locked(lock), ["hyper 1.2"]);
    }
}
