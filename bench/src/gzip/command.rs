//! The programs of the peers.

use std::path::Path;
use std::process::Command;

use crate::peers::OURS;

/// The level of a program; 0 inflates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level(pub(super) u8);

/// Returns the command for `peer`, from standard input or the file added to its arguments, to
/// standard output. `None` if the peer is no gzip program.
pub(super) fn command(
    peer: &str,
    pgz: &Path,
    Level(level): Level,
    workers: usize,
) -> Option<Command> {
    let how = match peer {
        OURS => return Some(tool(Command::new(pgz), level, workers)),
        "pigz" => return Some(tool(Command::new("pigz"), level, workers)),
        "pgz-fibers" => "fibers",
        "pgz-threads" => "threads",
        "serial" => "serial",
        _ => return None,
    };
    let here = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(here);
    command.args([
        "child",
        "gzip",
        how,
        &level.to_string(),
        &workers.to_string(),
    ]);
    Some(command)
}

/// Adds the arguments that all gzip programs share.
fn tool(mut command: Command, level: u8, workers: usize) -> Command {
    let what = if level == 0 {
        "-d".to_owned()
    } else {
        format!("-{level}")
    };
    command.args([&what, "-c", "-p", &workers.to_string()]);
    command
}
