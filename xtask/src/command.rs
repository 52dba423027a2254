//! Runs other programs, mostly cargo.
//!
//! Owns the display of commands and of their failures, and the limit on the time of a program that
//! may hang.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{family, processor, repo};

/// Returns the command of a program, in the repository's root.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(repo::root());
    command
}

/// Returns the command of the cargo that runs this program, with these words as arguments.
pub(crate) fn cargo(args: &str) -> Command {
    let mut cargo = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(args.split_whitespace());
    cargo
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

/// The end of a program with a limit on its time.
#[derive(Debug)]
pub(crate) struct Watched {
    /// None if it was killed at the limit.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) output: String,
    pub(crate) took: Duration,
    /// Its processor time, as last seen.
    pub(crate) worked: Duration,
}

impl Watched {
    /// Returns true if it ended in time and says that it succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

/// The output of a program that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    Standard,
    Both,
}

/// Runs to the end or, if it takes longer than `limit`, kills it and its descendants. Before that,
/// `describe` gets its process ID; the output ends with the result.
///
/// # Errors
/// When it cannot start or cannot be watched.
pub(crate) fn watch(
    command: &mut Command,
    limit: Duration,
    streams: Streams,
    describe: fn(u32) -> String,
) -> Result<Watched, String> {
    let io = |e: std::io::Error| e.to_string();
    let mut log = scratch()?;
    command.stdin(Stdio::null());
    command.stdout(log.try_clone().map_err(io)?);
    if streams == Streams::Both {
        command.stderr(log.try_clone().map_err(io)?);
    }
    let start = Instant::now();
    let mut child = command.spawn().map_err(io)?;
    let mut pause = Duration::from_micros(500);
    let mut worked = Duration::ZERO;
    let mut description = String::new();
    let status = loop {
        // An ended process has no figures.
        worked = processor::of(child.id()).unwrap_or(worked).max(worked);
        if let Some(status) = child.try_wait().map_err(io)? {
            break Some(status);
        }
        if start.elapsed() > limit {
            description = describe(child.id());
            family::kill(child.id());
            child.kill().map_err(io)?;
            child.wait().map_err(io)?;
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let took = start.elapsed();
    let mut bytes = Vec::new();
    log.rewind().map_err(io)?;
    log.read_to_end(&mut bytes).map_err(io)?;
    Ok(Watched {
        status,
        output: String::from_utf8_lossy(&bytes).into_owned() + &description,
        took,
        worked,
    })
}

/// Opens a file for the output of a program; unlinked, so that nothing stays behind.
fn scratch() -> Result<File, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let dir = repo::target(Some("logs"));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!("{}-{count}", std::process::id()));
    let failed = |e| format!("{}: {e}", path.display());
    fs::create_dir_all(&dir).map_err(failed)?;
    let mut options = File::options();
    let file = options.create_new(true).read(true).append(true).open(&path);
    let file = file.map_err(failed)?;
    fs::remove_file(&path).map_err(failed)?;
    Ok(file)
}

/// Returns true when a program of this name is on the search path.
pub(crate) fn exists(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

fn show(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default();
    let args = command.get_args().map(OsStr::to_string_lossy);
    let words: Vec<_> = std::iter::once(name.into()).chain(args).collect();
    words.join(" ")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_killed_program_leaves_nothing_behind() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut sh = program("sh");
        sh.args(["-c", "sleep 250 & sleep 250"]).stderr(writer);
        let (limit, start) = (Duration::from_secs(1), Instant::now());
        let watched = watch(&mut sh, limit, Streams::Standard, |_| String::new());
        assert!(watched.unwrap().status.is_none());
        // The last writers are its children.
        drop(sh);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        assert!(start.elapsed() < Duration::from_secs(200));
    }
}
