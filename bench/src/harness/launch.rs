//! One child: pinned, limited in time, read to its end.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::tools::target_directory;

use super::{Answer, Status};

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processors, taken from the end of those that this process may use.
    pub processors: usize,
    /// Time until it is killed.
    pub time: Duration,
}

/// Runs `command` and reads its answer. What it says on standard error is kept for the
/// reason when it fails.
pub fn launch(mut command: Command, limits: Limits) -> Answer {
    let mask = last_processors(limits.processors);
    let pin = move || {
        // SAFETY: pid 0 is the calling process, the mask is alive and of the size told.
        let failed = unsafe { libc::sched_setaffinity(0, size_of_val(&mask), &mask) };
        if failed == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec `pin` makes one system call on its own copy of the mask
    // and takes no lock.
    unsafe { command.pre_exec(pin) };
    let errors = target_directory().join("child-errors");
    let Ok(said) = File::create(&errors) else {
        let what = format!("cannot write {}", errors.display());
        return Answer::empty(Status::Failed(what));
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
            let what = format!("{}{}", describe(status), first_line(&errors));
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

/// The first line that is a message, after a colon.
fn first_line(errors: &Path) -> String {
    let said = fs::read_to_string(errors).unwrap_or_default();
    let boring = |line: &&str| line.is_empty() || line.starts_with("thread '");
    let line = said
        .lines()
        .find(|line| !boring(line))
        .map(|line| format!(": {line}"));
    line.unwrap_or_default()
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("died of signal {signal}"),
        (None, code) => format!("ended with code {}", code.unwrap_or(-1)),
    }
}

/// The last `count` of the processors that this process may use: the first one serves
/// most interrupts.
fn last_processors(count: usize) -> libc::cpu_set_t {
    // SAFETY: a set of processors is a plain array of bits; all zeros is the empty one.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: pid 0 is the calling thread, the set is alive and of the size told.
    unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed) };
    // SAFETY: as above.
    let mut chosen: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let total = libc::CPU_SETSIZE as usize;
    // SAFETY: every index is below the size of the set.
    let is_allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &allowed) };
    for cpu in (0..total).rev().filter(is_allowed).take(count) {
        // SAFETY: as above.
        unsafe { libc::CPU_SET(cpu, &mut chosen) };
    }
    chosen
}
