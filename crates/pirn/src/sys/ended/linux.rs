//! Linux: a descriptor of the process.

use std::io::{self, Error};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::thread;

/// A descriptor that can be read from when the child with this number has ended.
///
/// # Errors
/// What the system says: there is no such child, or there are no descriptors left.
pub(crate) fn ended(child: u32) -> io::Result<OwnedFd> {
    // SAFETY: two numbers in, one out.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
    if opened < 0 {
        let error = Error::last_os_error();
        // Before Linux 5.3 there is none, and some sandboxes forbid it.
        return match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EPERM) => thread::ended(child),
            _ => Err(error),
        };
    }
    // SAFETY: the system has just made it for us; it is closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}
