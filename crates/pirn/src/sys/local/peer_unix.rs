//! The BSDs and macOS: the user of a connected client.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Returns the effective user of the process at the other end, as of its connect.
///
/// # Errors
/// The error of the system.
pub(super) fn user(socket: &UnixStream) -> io::Result<u32> {
    let (mut user, mut group) = (u32::MAX, u32::MAX);
    // SAFETY: the descriptor is open, and the pointers are valid for writes.
    let failed =
        unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut user, &raw mut group) };
    match failed {
        0 => Ok(user),
        _ => Err(io::Error::last_os_error()),
    }
}
