//! Instructions for one operation: two runs under callgrind, the difference divided by the
//! difference of their repetitions, so that starting and ending the process cancel.
//!
//! Threads are counted separately and the busiest one is taken: the work of the monitor and of the
//! main thread depends on time and is not part of the operation.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::base::{clear_environment, step, target_directory};

use super::Operation;

/// Repetitions of the shorter run and of the longer one.
const REPETITIONS: (u64, u64) = (10_000, 60_000);

/// Counts one operation of a child of this program.
///
/// # Errors
/// Valgrind is missing, or the child failed under it; in words.
pub(super) fn instructions_of(operation: &Operation) -> Result<f64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    instructions_in(&own, operation, &[])
}

/// Counts one operation of a child of `program`, another build of this one, with these
/// variables in its environment.
pub(super) fn instructions_in(
    program: &Path,
    operation: &Operation,
    environment: &[(&str, &str)],
) -> Result<f64, String> {
    let (few, many) = REPETITIONS;
    let count = |times| count(program, operation, environment, times);
    let difference = count(many)? as f64 - count(few)? as f64;
    Ok(difference / (many - few) as f64)
}

/// Returns all instructions of the busiest thread in a run of that many repetitions.
fn count(
    program: &Path,
    operation: &Operation,
    environment: &[(&str, &str)],
    times: u64,
) -> Result<u64, String> {
    let directory = target_directory().join("guard").join(operation.name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args([
            "--tool=callgrind",
            "--separate-threads=yes",
            "--error-exitcode=1",
        ])
        .arg(format!("--callgrind-out-file={}/out", directory.display()))
        .arg(program)
        .args(["child", operation.name, &times.to_string()])
        .envs(environment.iter().copied());
    clear_environment(&mut valgrind);
    step(&mut valgrind).map_err(|error| format!("{}: {error}", operation.name))?;
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let totals = entries.filter_map(|entry| total(&entry.path()));
    totals
        .max()
        .ok_or_else(|| "callgrind wrote no totals".to_owned())
}

/// The number on the `totals:` line. The one on `summary:` is wrong after a thread's counts
/// were set back.
fn total(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
    line.trim().parse().ok()
}

/// Counts the operations by `count`, one on each processor at a time, because a count depends on no
/// clock; returns the answers in their order.
///
/// # Errors
/// The first failed count.
pub(super) fn side_by_side<T: Send>(
    operations: &[&'static Operation],
    count: impl Fn(&&'static Operation) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let share = operations.len().div_ceil(at_once).max(1);
    thread::scope(|scope| {
        let count = &count;
        let counting: Vec<_> = operations
            .chunks(share)
            .map(|some| scope.spawn(move || some.iter().map(count).collect::<Vec<_>>()))
            .collect();
        let counted = counting
            .into_iter()
            .flat_map(|thread| thread.join().expect("a count does not panic"));
        counted.collect()
    })
}
