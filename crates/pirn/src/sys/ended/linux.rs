//! Linux: a descriptor of the process.

use std::io::{self, Error};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::thread;

/// Returns a descriptor that becomes readable when the child with this number has ended.
///
/// # Errors
/// The error of the system: there is no such child, or no descriptor is left.
pub(crate) fn ended(child: u32) -> io::Result<OwnedFd> {
    // SAFETY: two numbers in, one number out.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
    if opened < 0 {
        let error = Error::last_os_error();
        // Linux before 5.3 does not have the call, and some sandboxes forbid it.
        return match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EPERM) => thread::ended(child),
            _ => Err(error),
        };
    }
    // SAFETY: the system has just created it for this call; it is closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}
