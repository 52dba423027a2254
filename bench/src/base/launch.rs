//! One child: pinned, limited in time, read to its end.

use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{Answer, Complaint, Processors, Status, pin};

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Where it may run.
    pub processors: Processors,
    /// Time until it is killed.
    pub time: Duration,
}

/// Runs `command` and reads its answer. What it says on standard error is kept for the
/// reason when it fails.
pub fn launch(mut command: Command, limits: Limits) -> Answer {
    pin(&mut command, limits.processors);
    let (complaint, said) = match Complaint::new() {
        Ok(complaint) => complaint,
        Err(error) => {
            let what = format!("no room for what it may say: {error}");
            return Answer::empty(Status::Failed(what));
        }
    };
    command.env("RUST_BACKTRACE", "0");
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
        // A child that ended in this very moment cannot be killed, which is as good.
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

/// All that the child prints, or `None` when it prints on past `deadline`.
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
