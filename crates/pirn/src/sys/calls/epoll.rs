//! Linux: epoll, and the eventfd that ends a wait.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use super::check::check;

/// Creates an eventfd with this counter and these flags.
///
/// # Errors
/// `EMFILE` or `ENFILE` at a limit of descriptors; other errors of the system.
pub(in crate::sys) fn eventfd(counter: u32, flags: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let created = check(unsafe { libc::eventfd(counter, flags) })?;
    // SAFETY: the descriptor is new, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(created) })
}

/// Creates an epoll instance; its descriptor is closed on exec.
///
/// # Errors
/// `EMFILE` or `ENFILE` at a limit of descriptors; other errors of the system.
pub(in crate::sys) fn epoll_create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let created = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    // SAFETY: the descriptor is new, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(created) })
}

/// Adds, changes or removes the registration of `source`: `operation` is an `EPOLL_CTL_…`.
///
/// # Errors
/// `ENOENT` if it is not registered, `EEXIST` if it is already; other errors of the system.
pub(in crate::sys) fn epoll_ctl(
    epoll: BorrowedFd<'_>,
    operation: c_int,
    source: RawFd,
    mut event: libc::epoll_event,
) -> io::Result<()> {
    let epoll = epoll.as_raw_fd();
    // SAFETY: the call only reads the event.
    check(unsafe { libc::epoll_ctl(epoll, operation, source, &raw mut event) }).map(drop)
}

/// Replaces `events` by at most `most` ready events. If none is ready, blocks for at most `timeout`
/// milliseconds, without a limit if it is negative.
///
/// # Errors
/// `EINTR` if a signal has interrupted the call; other errors of the system. `events` is empty then.
#[inline(always)]
pub(in crate::sys) fn epoll_wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    most: u16,
    timeout: c_int,
) -> io::Result<()> {
    let most = make_room(events, most);
    // Called by its number: `pirn-hooks` replaces the function of libc.
    // SAFETY: there is room for so many events.
    let n = check(unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            most,
            timeout,
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    })?;
    // SAFETY: the system has initialized this number of events, and there is room for them.
    unsafe { events.set_len(n as usize) };
    Ok(())
}

/// A time as `epoll_pwait2` takes it: with 64 bits even where `libc::timespec` has 32.
#[repr(C)]
struct KernelTime {
    seconds: i64,
    nanos: i64,
}

/// As [`epoll_wait`], with a limit in nanoseconds.
///
/// # Errors
/// As [`epoll_wait`]; `ENOSYS` before Linux 5.11, `EPERM` if a filter of system calls forbids it.
#[inline(always)]
pub(in crate::sys) fn epoll_pwait2(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    most: u16,
    timeout: Duration,
) -> io::Result<()> {
    let most = make_room(events, most);
    let timeout = KernelTime {
        seconds: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        nanos: i64::from(timeout.subsec_nanos()),
    };
    // SAFETY: there is room for so many events, and the call only reads the timeout.
    let n = check(unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            most,
            &raw const timeout,
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    })?;
    // SAFETY: the system has initialized this number of events, and there is room for them.
    unsafe { events.set_len(n as usize) };
    Ok(())
}

/// Removes all events, and makes room for `most`.
#[inline(always)]
fn make_room(events: &mut Vec<libc::epoll_event>, most: u16) -> c_int {
    events.clear();
    events.reserve(usize::from(most));
    c_int::from(most)
}
