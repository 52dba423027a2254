//! The state of a program that hangs: the stacks of its threads, and of its children's, from gdb.
//!
//! A hang that a machine shows once in a thousand runs leaves nothing else to look at.

use std::fs;
use std::time::Duration;

use crate::command::{self, Streams};

/// Limit on the time that gdb has for one process.
const LIMIT: Duration = Duration::from_secs(20);
/// Maximum number of processes that are described.
const PROCESSES: usize = 6;

/// Returns the stacks of all threads of the process and of its descendants.
pub(crate) fn stacks(process: u32) -> String {
    let mut family = vec![process];
    let parents = parents();
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    family.truncate(PROCESSES);
    family.into_iter().map(of_one).collect()
}

/// Returns nothing: for a program with hangs that need no explanation.
pub(crate) fn undescribed(_: u32) -> String {
    String::new()
}

fn of_one(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let mut gdb = command::program("gdb");
    gdb.args(["-p", &process.to_string(), "-batch"]);
    gdb.args(["-ex", "thread apply all backtrace 25"]);
    let said = match command::watch(&mut gdb, LIMIT, Streams::Both, undescribed) {
        Ok(watched) => watched.output,
        Err(why) => format!("no stacks: gdb: {why}"),
    };
    let of_stacks = |line: &&str| line.starts_with(['#', 'T']) || line.contains("gdb");
    let lines: Vec<_> = said.lines().filter(of_stacks).collect();
    format!(
        "\n-- process {process}, {}\n{}\n",
        name.trim(),
        lines.join("\n")
    )
}

/// Returns the processes of this machine, each with its parent.
fn parents() -> Vec<(u32, u32)> {
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let with_parent = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        Some((process, parent_in(&stat)?))
    };
    numbers.filter_map(with_parent).collect()
}

/// Returns the second word after the name.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_parent() {
        assert_eq!(parent_in("7 (a) b) S 12 7 7 0 -1"), Some(12));
        assert_eq!(parent_in("7 (a"), None);
        let own = std::process::id();
        assert!(parents().iter().any(|(process, _)| *process == own));
    }
}
