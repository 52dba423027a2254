//! Calls of libc with the types of C.

use std::ffi::{c_int, c_short, c_void};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::time::Duration;

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

/// Returns the time of processors that the process has used.
pub(crate) fn processor_time() -> Duration {
    let mut time = timespec(0);
    // SAFETY: a time to write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
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
    let most = wanted.iter().max().map_or(0, |most| most + 1);
    // libc's macros end at 1,024 descriptors, the function does not.
    let mut set = vec![0_u64; most as usize / 64 + 1];
    let place = |fd: &RawFd| (*fd as usize / 64, 1_u64 << (*fd % 64));
    for (word, bit) in wanted.iter().map(place) {
        set[word] |= bit;
    }
    let mut limit = libc::timeval {
        tv_sec: millis / 1_000,
        tv_usec: millis % 1_000 * 1_000,
    };
    let (read, null, limit_at) =
        (set.as_mut_ptr().cast(), ptr::null_mut(), &raw mut limit);
    // SAFETY: a set with more bits than `most`, no others, and a limit.
    let ready =
        checked(unsafe { libc::select(most, read, null, null, limit_at) } as isize)?;
    let is_in = |fd: &RawFd| set[place(fd).0] & place(fd).1 != 0;
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

/// Writes the parts by `writev`.
pub(crate) fn writev(fd: &impl AsRawFd, parts: &[&[u8]]) -> io::Result<usize> {
    let parts: Vec<_> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
    // SAFETY: an `IoSlice` is an `iovec`.
    checked(unsafe {
        libc::writev(fd.as_raw_fd(), parts.as_ptr().cast(), parts.len() as c_int)
    })
}

/// Reads into the parts by `readv`.
pub(crate) fn readv(fd: &impl AsRawFd, parts: &mut [&mut [u8]]) -> io::Result<usize> {
    let parts: Vec<_> = parts
        .iter_mut()
        .map(|part| io::IoSliceMut::new(part))
        .collect();
    // SAFETY: an `IoSliceMut` is an `iovec`.
    checked(unsafe {
        libc::readv(fd.as_raw_fd(), parts.as_ptr().cast(), parts.len() as c_int)
    })
}

pub(crate) fn recvmsg(fd: &impl AsRawFd, bytes: &mut [u8]) -> io::Result<usize> {
    let mut part = iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: plain data of C.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    // SAFETY: the part is writable.
    checked(unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0) })
}

/// Shuts down both directions of a socket. A failure is ignored.
pub(crate) fn shut_down(fd: RawFd) {
    // SAFETY: no memory is passed.
    unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
}

pub(crate) fn set_nonblocking(fd: &impl AsRawFd, on: bool) -> io::Result<usize> {
    let mut on = c_int::from(on);
    // SAFETY: an `int` to read.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONBIO, &raw mut on) } as isize)
}

/// Sets `SO_RCVTIMEO`; 0 is no limit.
pub(crate) fn set_read_limit(fd: &impl AsRawFd, millis: u64) -> io::Result<usize> {
    let limit = libc::timeval {
        tv_sec: 0,
        tv_usec: (millis * 1_000).cast_signed(),
    };
    let (at, size) = (
        (&raw const limit).cast(),
        size_of_val(&limit) as libc::socklen_t,
    );
    // SAFETY: a time to read.
    checked(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            at,
            size,
        )
    } as isize)
}
