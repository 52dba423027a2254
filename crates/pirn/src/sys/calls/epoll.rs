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
/// The error of the system, for example too many descriptors.
pub(in crate::sys) fn eventfd(counter: u32, flags: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let created = check(unsafe { libc::eventfd(counter, flags) })?;
    // SAFETY: the system has just created it for this call.
    Ok(unsafe { OwnedFd::from_raw_fd(created) })
}

/// Creates a descriptor of epoll, which is closed on exec.
///
/// # Errors
/// The error of the system, for example too many descriptors.
pub(in crate::sys) fn epoll_create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let created = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    // SAFETY: the system has just created it for this call.
    Ok(unsafe { OwnedFd::from_raw_fd(created) })
}

/// Registers a source, or removes it, as `operation` says.
///
/// # Errors
/// The error of the system.
pub(in crate::sys) fn epoll_ctl(
    epoll: BorrowedFd<'_>,
    operation: c_int,
    source: RawFd,
    mut event: libc::epoll_event,
) -> io::Result<()> {
    let epoll = epoll.as_raw_fd();
    // SAFETY: the event is read only.
    check(unsafe { libc::epoll_ctl(epoll, operation, source, &raw mut event) }).map(drop)
}

/// Replaces `events` by the events that have come, at most `most`. If none has, blocks for this
/// number of milliseconds, without a limit if it is negative.
///
/// # Errors
/// The error of the system, for example that a signal has interrupted the call. There are no events
/// then.
#[inline(always)]
pub(in crate::sys) fn epoll_wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<libc::epoll_event>,
    most: u16,
    timeout: c_int,
) -> io::Result<()> {
    let most = make_room(events, most);
    // Not by the function of libc, which `pirn-hooks` replaces.
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
    // SAFETY: the system has initialized this number of events.
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
/// As [`epoll_wait`]; `ENOSYS` before Linux 5.11.
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
    // SAFETY: there is room for so many events; the timeout is read only.
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
    // SAFETY: the system has initialized this number of events.
    unsafe { events.set_len(n as usize) };
    Ok(())
}

/// Removes the events, and makes room for so many.
#[inline(always)]
fn make_room(events: &mut Vec<libc::epoll_event>, most: u16) -> c_int {
    events.clear();
    events.reserve(usize::from(most));
    c_int::from(most)
}
