//! Runs other programs, mostly cargo.
//!
//! Owns the display of commands and of their failures. Does not own tests, which run one by one in
//! processes of their own (`harness`).

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::repo;

/// Returns the command of a program, in the repository's root.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(repo::root());
    command
}

/// Returns the command of the cargo that runs this program.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs to the end with inherited output.
///
/// # Errors
/// When it cannot start or says that it failed.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    let status = command.status().map_err(|e| format!("`{shown}`: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}`: {status}"))
    }
}

/// Runs to the end and returns what it wrote to its standard output.
///
/// # Errors
/// When it cannot start or says that it failed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("`{shown}`: {e}"))?;
    if !out.status.success() {
        return Err(format!("`{shown}`: {}", out.status));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs to the end; returns whether it succeeded and all that it wrote, both streams.
///
/// # Errors
/// When it cannot start.
pub(crate) fn outcome(command: &mut Command) -> Result<(bool, String), String> {
    let shown = show(command);
    let out = command.output().map_err(|e| format!("`{shown}`: {e}"))?;
    let mut text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&out.stderr));
    Ok((out.status.success(), text))
}

/// Returns true when a program of this name is on the search path.
pub(crate) fn exists(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_file(&dir.join(name)))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file())
}

fn show(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    if let Some((_, name)) = text.rsplit_once('/') {
        text = name.to_owned();
    }
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}
