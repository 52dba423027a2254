//! The readiness and the mode of any descriptor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::calls;

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
    let mut polled = [libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events,
        revents: 0,
    }];
    loop {
        match calls::poll(&mut polled, 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            ready => return ready.map(|n| n > 0),
        }
    }
}

/// Sets whether reads and writes that would have to wait do so, or fail.
///
/// # Errors
/// The error of the system.
pub(crate) fn set_blocking(descriptor: BorrowedFd<'_>, blocking: bool) -> io::Result<()> {
    let before = calls::status_flags(descriptor)?;
    let flags = match blocking {
        true => before & !libc::O_NONBLOCK,
        false => before | libc::O_NONBLOCK,
    };
    calls::set_status_flags(descriptor, flags)
}
