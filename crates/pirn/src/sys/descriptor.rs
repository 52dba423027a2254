//! System calls for any descriptor.

use std::io::{self, Error};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Returns whether a read from `descriptor` would return at once, with any result.
///
/// # Errors
/// The error of the system.
pub(crate) fn is_readable(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    is_ready(descriptor, libc::POLLIN)
}

/// Returns whether a write of a few bytes to `descriptor` would return at once, with any result.
///
/// # Errors
/// The error of the system.
pub(crate) fn is_writable(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    is_ready(descriptor, libc::POLLOUT)
}

/// Returns whether no more data will come from `descriptor`; false where the system does not report
/// it.
pub(crate) fn is_read_closed(descriptor: BorrowedFd<'_>) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return is_ready(descriptor, libc::POLLRDHUP).unwrap_or(false);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = descriptor;
        false
    }
}

fn is_ready(descriptor: BorrowedFd<'_>, events: libc::c_short) -> io::Result<bool> {
    let mut polled = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events,
        revents: 0,
    };
    loop {
        // SAFETY: one element, which exists.
        let ready = unsafe { libc::poll(&raw mut polled, 1, 0) };
        let error = Error::last_os_error();
        match ready {
            0.. => return Ok(ready > 0),
            _ if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}

/// Sets whether reads and writes that would have to wait do so, or fail.
///
/// # Errors
/// The error of the system.
pub(crate) fn set_blocking(descriptor: BorrowedFd<'_>, blocking: bool) -> io::Result<()> {
    let fd = descriptor.as_raw_fd();
    // SAFETY: the call only reads the flags.
    let before = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if before < 0 {
        return Err(Error::last_os_error());
    }
    let flags = match blocking {
        true => before & !libc::O_NONBLOCK,
        false => before | libc::O_NONBLOCK,
    };
    // SAFETY: the descriptor's own flags, except this one.
    match unsafe { libc::fcntl(fd, libc::F_SETFL, flags) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
