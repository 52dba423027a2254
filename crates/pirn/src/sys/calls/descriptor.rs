//! Calls for any descriptor.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check::check;

/// Blocks until one of `polled` is ready, or for this number of milliseconds (without a limit if it
/// is negative). Returns how many are ready.
///
/// # Errors
/// The error of the system, for example that a signal has interrupted the call.
pub(in crate::sys) fn poll(
    polled: &mut [libc::pollfd],
    timeout: c_int,
) -> io::Result<c_int> {
    let n = polled.len() as libc::nfds_t;
    // SAFETY: the slice has `n` elements.
    check(unsafe { libc::poll(polled.as_mut_ptr(), n, timeout) })
}

/// Writes as many of the bytes as the descriptor takes at once. Returns their number, negative if
/// the call has failed, which a caller may ignore.
///
/// On Linux not by libc's `write`: the scheduler calls this, and `pirn-hooks` may park in `write`.
#[inline(always)]
pub(in crate::sys) fn write(descriptor: BorrowedFd<'_>, bytes: &[u8]) -> isize {
    let (descriptor, from, length) =
        (descriptor.as_raw_fd(), bytes.as_ptr(), bytes.len());
    #[cfg(target_os = "linux")]
    // SAFETY: the bytes are readable.
    let written = unsafe { libc::syscall(libc::SYS_write, descriptor, from, length) };
    #[cfg(not(target_os = "linux"))]
    // SAFETY: the bytes are readable.
    let written = unsafe { libc::write(descriptor, from.cast(), length) };
    written as isize
}

/// As [`write()`].
///
/// # Errors
/// The error of the system.
pub(in crate::sys) fn write_some(
    descriptor: BorrowedFd<'_>,
    bytes: &[u8],
) -> io::Result<usize> {
    check(write(descriptor, bytes)).map(|n| n as usize)
}

/// Returns the status flags of a descriptor (`F_GETFL`).
///
/// # Errors
/// The error of the system.
pub(in crate::sys) fn status_flags(descriptor: BorrowedFd<'_>) -> io::Result<c_int> {
    // SAFETY: the call only reads the flags.
    check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GETFL) })
}

/// Sets the status flags of a descriptor (`F_SETFL`).
///
/// # Errors
/// The error of the system.
#[cfg(not(pirn_modelled))]
pub(in crate::sys) fn set_status_flags(
    descriptor: BorrowedFd<'_>,
    flags: c_int,
) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// Reads into `into` as the flags (`RWF_…`) say, from `at` or from the file's position.
///
/// # Errors
/// The error of the system.
#[cfg(target_os = "linux")]
pub(in crate::sys) fn preadv2(
    file: BorrowedFd<'_>,
    into: &mut [u8],
    at: Option<u64>,
    flags: c_int,
) -> io::Result<usize> {
    let to = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // -1 stands for the file's position, in both halves.
    let at = at.map_or(Ok(-1), i64::try_from);
    let at = at.map_err(|_| io::ErrorKind::InvalidInput)?;
    let (low, high) = (at as libc::c_long, (at >> 32) as libc::c_long);
    // SAFETY: the call writes only into the buffer, which is borrowed mutably.
    let n = unsafe {
        libc::syscall(
            libc::SYS_preadv2,
            file.as_raw_fd(),
            &raw const to,
            1_usize,
            low,
            high,
            flags,
        )
    };
    check(n).map(|n| n as usize)
}
