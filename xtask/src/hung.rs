//! The state of a program that hangs: the stacks of its threads, and of its children's, from gdb.
//!
//! A hang that a machine shows once in a thousand runs leaves nothing else to look at.

use std::fs;
use std::time::Duration;

use crate::command::{self, Streams};
use crate::family;

/// Limit on the time that gdb has for one process.
const LIMIT: Duration = Duration::from_secs(20);
/// Maximum number of processes that are described.
const PROCESSES: usize = 6;

/// Returns the stacks of all threads of the process and of its descendants.
pub(crate) fn stacks(process: u32) -> String {
    let family = family::of(process).into_iter();
    family.take(PROCESSES).map(of_one).collect()
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
    let (name, lines) = (name.trim(), lines.join("\n"));
    format!("\n-- process {process}, {name}\n{lines}\n")
}
