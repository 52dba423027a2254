//! Linux: the end of a child by a pidfd.

use std::io;
use std::os::fd::OwnedFd;

use super::thread;
use crate::sys::calls;

/// Returns a descriptor that becomes readable when the child with this number has ended.
///
/// # Errors
/// The error of the system: there is no such child, or no descriptor is left.
pub(crate) fn ended(child: u32) -> io::Result<OwnedFd> {
    calls::pidfd_open(child).or_else(|error| match error.raw_os_error() {
        // Linux before 5.3 does not have the call, and some sandboxes forbid it.
        Some(libc::ENOSYS | libc::EPERM) => thread::ended(child),
        _ => Err(error),
    })
}
