//! Calls of libc with the types of C.

use std::ffi::{c_int, c_short, c_void};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use libc::{iovec, pollfd, timespec};

fn checked(returned: isize) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

pub(crate) fn sleep(seconds: u32) -> u32 {
    // SAFETY: no memory is passed.
    unsafe { libc::sleep(seconds) }
}

pub(crate) fn usleep(micros: u32) -> c_int {
    // SAFETY: no memory is passed.
    unsafe { libc::usleep(micros) }
}

fn timespec(micros: u32) -> timespec {
    timespec {
        tv_sec: 0,
        tv_nsec: i64::from(micros) * 1_000,
    }
}

pub(crate) fn nanosleep(micros: u32) -> c_int {
    let wanted = timespec(micros);
    // SAFETY: a time to read, and none to write.
    unsafe { libc::nanosleep(&raw const wanted, ptr::null_mut()) }
}

/// Sleeps until a point in time of the monotonic clock.
pub(crate) fn sleep_until_monotonic(micros: u32) -> c_int {
    let mut until = timespec(0);
    // SAFETY: a time to write.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut until) };
    until.tv_nsec += i64::from(micros) * 1_000;
    until.tv_sec += until.tv_nsec / 1_000_000_000;
    until.tv_nsec %= 1_000_000_000;
    // SAFETY: a time to read, and none to write.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            ptr::null_mut(),
        )
    }
}

pub(crate) fn send(fd: &impl AsRawFd, bytes: &[u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: the bytes are readable.
    checked(unsafe {
        libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags)
    })
}

pub(crate) fn recv(
    fd: &impl AsRawFd,
    bytes: &mut [u8],
    flags: c_int,
) -> io::Result<usize> {
    let (to, length) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: the bytes are writable.
    checked(unsafe { libc::recv(fd.as_raw_fd(), to, length, flags) })
}

pub(crate) fn write(fd: &impl AsRawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are readable.
    checked(unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

pub(crate) fn read(fd: &impl AsRawFd, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the bytes are writable.
    checked(unsafe { libc::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) })
}

/// Sends the parts by `sendmsg`.
pub(crate) fn sendmsg(fd: &impl AsRawFd, parts: &[&[u8]]) -> io::Result<usize> {
    let mut parts: Vec<_> = parts
        .iter()
        .map(|part| iovec {
            iov_base: part.as_ptr().cast::<c_void>().cast_mut(),
            iov_len: part.len(),
        })
        .collect();
    // SAFETY: plain data of C.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    // SAFETY: the parts are readable.
    checked(unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const message, 0) })
}

/// Polls for events of each descriptor; returns how many have some, and which.
pub(crate) fn poll(
    wanted: &[(RawFd, c_short)],
    millis: c_int,
) -> io::Result<(usize, Vec<c_short>)> {
    let mut polled: Vec<_> = wanted
        .iter()
        .map(|(fd, events)| pollfd {
            fd: *fd,
            events: *events,
            revents: 0,
        })
        .collect();
    let count = polled.len() as libc::nfds_t;
    // SAFETY: the array has `count` elements.
    let ready =
        checked(unsafe { libc::poll(polled.as_mut_ptr(), count, millis) } as isize)?;
    Ok((ready, polled.iter().map(|one| one.revents).collect()))
}

/// Selects those that may be read; returns how many there are, which, and the milliseconds left.
pub(crate) fn select(
    wanted: &[RawFd],
    millis: i64,
) -> io::Result<(usize, Vec<RawFd>, i64)> {
    // SAFETY: plain data of C, in which zero is an empty set.
    let mut set: libc::fd_set = unsafe { std::mem::zeroed() };
    for fd in wanted {
        // SAFETY: a set, and a number below its size.
        unsafe { libc::FD_SET(*fd, &raw mut set) };
    }
    let mut limit = libc::timeval {
        tv_sec: millis / 1_000,
        tv_usec: millis % 1_000 * 1_000,
    };
    let most = wanted.iter().max().map_or(0, |most| most + 1);
    let (null, limit_at) = (ptr::null_mut(), &raw mut limit);
    // SAFETY: a set, no others, and a limit.
    let ready = unsafe { libc::select(most, &raw mut set, null, null, limit_at) };
    let ready = checked(ready as isize)?;
    let is_in = |fd: &RawFd| {
        // SAFETY: as above.
        unsafe { libc::FD_ISSET(*fd, &raw const set) }
    };
    let found = wanted.iter().copied().filter(is_in).collect();
    Ok((ready, found, limit.tv_sec * 1_000 + limit.tv_usec / 1_000))
}

pub(crate) fn close(fd: RawFd) {
    // SAFETY: the test owns the number.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

pub(crate) fn dup2(old: RawFd, new: RawFd) {
    // SAFETY: the test owns both numbers.
    assert_eq!(unsafe { libc::dup2(old, new) }, new);
}

/// Reads from the number, whatever it stands for.
pub(crate) fn read_number(fd: RawFd, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the bytes are writable.
    checked(unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) })
}
