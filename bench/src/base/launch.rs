//! One child: with an environment of its own, pinned, limited in time, read to its end.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{Answer, Complaint, Processors, Status, pin};

/// The limits of a child.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Its processors.
    pub processors: Processors,
    /// Time until it is killed.
    pub time: Duration,
}

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

/// Runs `command` in a cleared environment and reads its answer. Its standard error is kept for the
/// reason when it fails.
pub fn launch(mut command: Command, limits: Limits) -> Answer {
    command.env("RUST_BACKTRACE", "0");
    clear_environment(&mut command);
    pin(&mut command, limits.processors);
    let (complaint, said) = match Complaint::new() {
        Ok(complaint) => complaint,
        Err(error) => {
            let what = format!("no room for what it may say: {error}");
            return Answer::empty(Status::Failed(what));
        }
    };
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return Answer::empty(Status::Failed(format!("does not start: {error}")));
        }
    };
    let output = read_until(&mut child, Instant::now() + limits.time);
    if output.is_none() {
        // A child that ended just now cannot be killed, which is fine.
        let _ = child.kill();
    }
    let status = child
        .wait()
        .expect("a child that was started can be waited for");
    match output {
        None => {
            let what = format!("took longer than {} s", limits.time.as_secs());
            Answer::empty(Status::Failed(what))
        }
        Some(_) if !status.success() => {
            let what = format!("{}{}", describe(status), complaint.first_line());
            Answer::empty(Status::Failed(what))
        }
        Some(output) => Answer::parse(&output),
    }
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
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
        let limits = Limits {
            processors: Processors::Last(1),
            time: Duration::from_secs(60),
        };
        let answer = launch(command, limits);
        assert_eq!(answer.status, Status::Done);
        let names = answer.samples.into_iter().map(|(name, _)| name + "\n");
        names.collect()
    }

    /// A2. A child sees `PATH`, `HOME` and the variables that were set for it.
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
