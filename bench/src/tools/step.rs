//! One command of an installation.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `command` silently. The error is the last line of its output.
pub(crate) fn step(command: &mut Command) -> Result<String, String> {
    let program = Path::new(command.get_program());
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} does not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = said
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("no message");
    Err(format!("{name} failed: {}", last.trim()))
}
