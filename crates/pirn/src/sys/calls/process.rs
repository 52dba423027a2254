//! Calls about processes and their users.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
#[cfg(target_os = "linux")]
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::check::check;

/// Returns a descriptor of the child with this number, which becomes readable when the child ends.
/// It is closed on exec.
///
/// # Errors
/// The error of the system.
#[cfg(target_os = "linux")]
pub(in crate::sys) fn pidfd_open(child: u32) -> io::Result<OwnedFd> {
    // SAFETY: two numbers in, one number out.
    let opened = check(unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) })?;
    // SAFETY: the system has just created it for this call.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// Blocks until the child with this number has ended; its status stays.
///
/// # Errors
/// The error of the system, for example that a signal has interrupted the call.
pub(in crate::sys) fn waitid(child: u32) -> io::Result<()> {
    let options = libc::WEXITED | libc::WNOWAIT;
    let child = child as libc::id_t;
    let mut status = MaybeUninit::uninit();
    // SAFETY: `status` is valid for writes, and is not read.
    let waited =
        unsafe { libc::waitid(libc::P_PID, child, status.as_mut_ptr(), options) };
    check(waited).map(drop)
}

/// Returns the effective user of this process.
pub(in crate::sys) fn geteuid() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns the effective user of the process at the other end of a Unix socket, as of its connect.
///
/// # Errors
/// The error of the system.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(in crate::sys) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` has `size` bytes, both are valid for writes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut size,
        )
    };
    check(result).map(|_| peer.uid)
}

/// Returns the effective user of the process at the other end of a Unix socket, as of its connect.
///
/// # Errors
/// The error of the system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(in crate::sys) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let (mut user, mut group) = (u32::MAX, u32::MAX);
    let socket = socket.as_raw_fd();
    // SAFETY: the pointers are valid for writes.
    let result = unsafe { libc::getpeereid(socket, &raw mut user, &raw mut group) };
    check(result).map(|_| user)
}
