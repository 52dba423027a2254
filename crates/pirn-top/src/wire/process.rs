//! The system's information on the process at the other end.

#[cfg(target_os = "linux")]
use std::fs;
use std::os::unix::net::UnixStream;

/// Returns the id of the listening process, if the system reports it.
#[cfg(target_os = "linux")]
pub(super) fn of_peer(socket: &UnixStream) -> Option<i32> {
    let credentials = rustix::net::sockopt::socket_peercred(socket).ok()?;
    Some(credentials.pid.as_raw_pid())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_peer(_: &UnixStream) -> Option<i32> {
    None
}

/// Returns whether a process has been stopped, by a signal or a debugger.
#[cfg(target_os = "linux")]
pub(super) fn is_stopped(process: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which is in parentheses and may contain parentheses.
    let state = text
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_stopped(_: i32) -> bool {
    false
}
