//! A process and its descendants: a program that is killed leaves no servers behind. A
//! descendant of a process that has ended before is not found.
//!
//! They stay in the process group of this program, so that a terminal interrupts all of them.

use std::fs;
use std::process::Command;

/// Returns the process and its descendants; only itself if the system does not list processes.
pub(crate) fn of(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let parents = parents();
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    family
}

/// Kills the process and its descendants.
pub(crate) fn kill(process: u32) {
    let mut sh = Command::new("sh");
    sh.args(["-c", "kill -9 $*", "kill"]);
    // One that ended just now cannot be killed, which is fine.
    drop(sh.args(of(process).iter().map(u32::to_string)).output());
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

#[cfg(all(test, target_os = "linux"))]
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
