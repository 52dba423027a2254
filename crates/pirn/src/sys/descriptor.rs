//! What is asked of the system for any descriptor.

use std::io::{self, Error};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Has reads and writes that would have to wait fail instead, or wait.
///
/// # Errors
/// What the system says.
pub(crate) fn set_blocking(descriptor: BorrowedFd<'_>, blocking: bool) -> io::Result<()> {
    let fd = descriptor.as_raw_fd();
    // SAFETY: only asks.
    let before = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if before < 0 {
        return Err(Error::last_os_error());
    }
    let flags = match blocking {
        true => before & !libc::O_NONBLOCK,
        false => before | libc::O_NONBLOCK,
    };
    // SAFETY: flags that the descriptor had, but for this one.
    match unsafe { libc::fcntl(fd, libc::F_SETFL, flags) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
