//! One child: with an environment of its own, pinned, limited in time, read to its end.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Answer, Processors, pin, target_directory};

/// Variables that a child inherits: search path and home directory.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// Clears the environment that `command` would inherit, so that no setting of the
/// caller's shell reaches a measurement. `PATH`, `HOME`, and changes made on `command`
/// remain.
pub fn clear_environment(command: &mut Command) {
    let changes: Vec<(OsString, Option<OsString>)> = command
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
        .collect();
    command.env_clear();
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Runs `command` in a cleared environment on these processors and reads its answer; kills it after
/// `time`. Its standard error is kept for the reason when it fails.
pub fn launch(mut command: Command, processors: Processors, time: Duration) -> Answer {
    command.env("RUST_BACKTRACE", "0");
    clear_environment(&mut command);
    pin(&mut command, processors);
    let (complaint, said) = match Complaint::new() {
        Ok(complaint) => complaint,
        Err(error) => {
            return Answer::failed(format!("no room for what it may say: {error}"));
        }
    };
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Answer::failed(format!("does not start: {error}")),
    };
    let output = read_until(&mut child, Instant::now() + time);
    if output.is_none() {
        // A child that ended just now cannot be killed, which is fine.
        let _ = child.kill();
    }
    let status = child
        .wait()
        .expect("a child that was started can be waited for");
    match output {
        None => Answer::failed(format!("took longer than {} s", time.as_secs())),
        Some(_) if !status.success() => {
            Answer::failed(format!("{}{}", describe(status), complaint.first_line()))
        }
        Some(output) => Answer::parse(&output),
    }
}

/// Runs `command` silently, without input, and returns its output.
///
/// # Errors
/// The last line of its standard error, if it fails.
pub fn step(command: &mut Command) -> Result<String, String> {
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

/// Returns the child's output, or `None` if it still prints at `deadline`.
fn read_until(child: &mut Child, deadline: Instant) -> Option<String> {
    let mut stdout = child.stdout.take().expect("standard output is a pipe");
    let mut output = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let left = deadline.checked_duration_since(Instant::now())?;
        let mut ready = libc::pollfd {
            fd: stdout.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor, alive for the call.
        let count = unsafe { libc::poll(&mut ready, 1, left.as_millis() as i32 + 1) };
        if count == 0 {
            return None;
        }
        match stdout.read(&mut chunk) {
            Ok(0) => return Some(String::from_utf8_lossy(&output).into_owned()),
            Ok(length) => output.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("died of signal {signal}"),
        (None, code) => format!("ended with code {}", code.unwrap_or(-1)),
    }
}

/// A child's standard error: an unnamed file, so that children of other parents do not write to it.
#[derive(Debug)]
pub struct Complaint {
    file: File,
}

impl Complaint {
    /// Returns an empty one, and the descriptor for the child.
    ///
    /// # Errors
    /// When no file can be created in the target directory, or no descriptor is left.
    pub fn new() -> io::Result<(Complaint, Stdio)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("child-errors-{}-{count}", process::id());
        let path = target_directory().join(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        fs::remove_file(&path)?;
        let end = Stdio::from(file.try_clone()?);
        Ok((Complaint { file }, end))
    }

    /// Returns the first line that is a message, after a colon; nothing if there is none.
    pub fn first_line(&self) -> String {
        let mut said = vec![0; 4096];
        let length = self.file.read_at(&mut said, 0).unwrap_or(0);
        let said = String::from_utf8_lossy(&said[..length]);
        let boring = |line: &&str| line.is_empty() || line.starts_with("thread '");
        let line = said
            .lines()
            .find(|line| !boring(line))
            .map(|line| format!(": {line}"));
        line.unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::base::Status;

    /// Returns the names of variables in `text`, an output of `env`, that no child
    /// inherits: neither bench nor a shell sets them.
    pub(crate) fn strays(text: &str) -> Vec<String> {
        let known = [
            "PATH",
            "HOME",
            "RUST_BACKTRACE",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
        ];
        let names = text.lines().filter_map(|line| line.split_once('='));
        names
            .map(|(name, _)| name.to_owned())
            .filter(|name| !known.contains(&name.as_str()))
            .collect()
    }

    /// The names of the variables of a child that [`launch`] starts.
    fn names(mut command: Command) -> String {
        // Each line of an answer is a series with a value.
        command.args(["-c", "env | sed 's/=.*/= 0/'"]);
        let answer = launch(command, Processors::Last(1), Duration::from_secs(60));
        assert_eq!(answer.status, Status::Done);
        let names = answer.samples.into_iter().map(|(name, _)| name + "\n");
        names.collect()
    }

    /// A child sees `PATH`, `HOME` and the variables that were set for it.
    // Proves: A2.
    #[test]
    fn a_child_starts_with_an_empty_environment() {
        // At least those that cargo sets.
        let own: String = std::env::vars().map(|(name, _)| name + "=\n").collect();
        assert!(!strays(&own).is_empty(), "nothing to clear: {own}");
        let bare = names(Command::new("sh"));
        assert_eq!(strays(&bare), [""; 0], "{bare}");
        assert!(bare.contains("PATH=") && bare.contains("RUST_BACKTRACE="));
        let mut set = Command::new("sh");
        set.env("PIRN_WORKERS", "3").env_remove("HOME");
        let set = names(set);
        assert_eq!(strays(&set), ["PIRN_WORKERS"], "{set}");
        assert!(!set.contains("HOME="), "{set}");
    }
}
