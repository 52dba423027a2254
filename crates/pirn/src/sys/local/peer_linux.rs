//! Linux: the user of a connected client.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Returns the effective user of the process at the other end, as of its connect.
///
/// # Errors
/// The error of the system.
pub(super) fn user(socket: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open, `peer` has `size` bytes, both are valid for writes.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut size,
        )
    };
    match failed {
        0 => Ok(peer.uid),
        _ => Err(io::Error::last_os_error()),
    }
}
