//! Calls of libc with the types of C.

use std::ffi::{c_char, c_int, c_short, c_void};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
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
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time of a processor that this thread has used.
pub(crate) fn thread_time() -> Duration {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = timespec(0);
    // SAFETY: a time to write.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
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

/// Closes all numbers from `first` on.
pub(crate) fn close_from(first: u32) {
    // SAFETY: for a child that starts another program next.
    assert_eq!(unsafe { libc::close_range(first, u32::MAX, 0) }, 0);
}

/// Waits for an event of the epoll instance; returns the number of events.
pub(crate) fn epoll_wait(epoll: &impl AsRawFd, millis: c_int) -> io::Result<usize> {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let epoll = epoll.as_raw_fd();
    // SAFETY: there is room for one event.
    checked(unsafe { libc::epoll_wait(epoll, &raw mut event, 1, millis) } as isize)
}

/// Polls with an empty signal mask; returns the number of descriptors with events.
pub(crate) fn ppoll_masked(
    wanted: &[(RawFd, c_short)],
    millis: c_int,
) -> io::Result<usize> {
    let polled = |&(fd, events): &_| pollfd {
        fd,
        events,
        revents: 0,
    };
    let mut list: Vec<_> = wanted.iter().map(polled).collect();
    let limit = timespec {
        tv_sec: (millis / 1_000).into(),
        tv_nsec: (millis % 1_000 * 1_000_000).into(),
    };
    let (at, count) = (list.as_mut_ptr(), list.len() as libc::nfds_t);
    // SAFETY: all-zero bits are an empty mask.
    let mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the list, the limit and the mask live here.
    checked(unsafe { libc::ppoll(at, count, &raw const limit, &raw const mask) } as isize)
}

/// Returns an epoll instance that waits until the other one can be read.
pub(crate) fn epoll_of(watched: &impl AsRawFd) -> OwnedFd {
    // SAFETY: no memory is passed.
    let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) });
    let mut event = libc::epoll_event {
        events: libc::EPOLLIN as u32,
        u64: 0,
    };
    let (add, watched) = (libc::EPOLL_CTL_ADD, watched.as_raw_fd());
    // SAFETY: the event is readable.
    let added =
        unsafe { libc::epoll_ctl(epoll.as_raw_fd(), add, watched, &raw mut event) };
    assert_eq!(added, 0);
    epoll
}

pub(crate) fn dup2(old: RawFd, new: RawFd) {
    // SAFETY: the test owns both numbers.
    assert_eq!(unsafe { libc::dup2(old, new) }, new);
}

/// Waits for the lock of the whole file, which belongs to its description.
pub(crate) fn lock_description(fd: &impl AsRawFd) -> io::Result<usize> {
    lock_whole(fd, libc::F_OFD_SETLKW)
}

/// Waits for the lock of the whole file, which belongs to the process.
pub(crate) fn lock_process(fd: &impl AsRawFd) -> io::Result<usize> {
    lock_whole(fd, libc::F_SETLKW)
}

fn lock_whole(fd: &impl AsRawFd, command: c_int) -> io::Result<usize> {
    // SAFETY: plain data of C, in which zeros stand for the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as i16;
    // SAFETY: the lock is readable.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), command, &raw const lock) } as isize)
}

/// Returns the process that gets the signals of the descriptor.
pub(crate) fn owner(fd: &impl AsRawFd) -> io::Result<usize> {
    // SAFETY: no argument.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETOWN) } as isize)
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

/// Describes messages of one byte, which is at `part`.
fn messages(part: &mut iovec, count: usize) -> Vec<libc::mmsghdr> {
    // SAFETY: plain data of C.
    let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    vec![message; count]
}

fn part_of(byte: &mut u8) -> iovec {
    iovec {
        iov_base: ptr::from_mut(byte).cast(),
        iov_len: 1,
    }
}

/// Sends this many messages of one byte.
pub(crate) fn sendmmsg(fd: &impl AsRawFd, count: usize) -> io::Result<usize> {
    let mut byte = 0;
    let mut part = part_of(&mut byte);
    let mut messages = messages(&mut part, count);
    let at = messages.as_mut_ptr();
    // SAFETY: `count` messages, each with one part.
    checked(unsafe { libc::sendmmsg(fd.as_raw_fd(), at, count as u32, 0) } as isize)
}

/// Receives this many messages of one byte.
pub(crate) fn recvmmsg(
    fd: &impl AsRawFd,
    count: usize,
    flags: c_int,
) -> io::Result<usize> {
    let mut byte = 0;
    let mut part = part_of(&mut byte);
    let mut messages = messages(&mut part, count);
    let (at, never) = (messages.as_mut_ptr(), ptr::null_mut());
    // SAFETY: `count` messages, each with one part, and no time limit.
    checked(
        unsafe { libc::recvmmsg(fd.as_raw_fd(), at, count as u32, flags, never) }
            as isize,
    )
}

/// Closes a number past the symbols of libc, as `rustix` does.
pub(crate) fn close_unseen(fd: RawFd) {
    // SAFETY: the test owns the number.
    assert_eq!(unsafe { libc::syscall(libc::SYS_close, fd) }, 0);
}

/// Writes to the number, whatever it stands for.
pub(crate) fn write_number(fd: RawFd, bytes: &[u8]) {
    // SAFETY: the bytes are readable.
    let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    assert_eq!(written, bytes.len() as isize);
}

/// Accepts a connection from the number, whatever it stands for, and closes it.
pub(crate) fn accept(fd: RawFd) -> io::Result<usize> {
    // SAFETY: no address is asked for.
    let accepted = unsafe { libc::accept(fd, ptr::null_mut(), ptr::null_mut()) };
    checked(accepted as isize)
        .map(|_| close(accepted))
        .map(|()| 0)
}

/// Accepts a connection, of which the address is not asked for.
pub(crate) fn accept_with(fd: &impl AsRawFd, flags: c_int) -> io::Result<usize> {
    let (address, size) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: no address is written.
    checked(unsafe { libc::accept4(fd.as_raw_fd(), address, size, flags) } as isize)
}

/// Polls no descriptor in a child process, made by the system call; returns how that has ended.
pub(crate) fn polls_in_a_child(millis: c_int) -> io::Result<c_int> {
    // SAFETY: the child calls functions that are safe in a signal handler, and ends.
    let child = unsafe { libc::syscall(libc::SYS_fork) } as libc::pid_t;
    if child == 0 {
        let _ = poll(&[], millis);
        // SAFETY: no destructors.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the status is writable.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    checked(ended as isize).map(|_| status)
}

fn owned(fd: c_int) -> OwnedFd {
    assert!(fd >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the number was just opened.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

pub(crate) fn tcp_socket() -> OwnedFd {
    // SAFETY: no memory is passed.
    owned(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) })
}

/// Opens a new terminal; returns the side of its emulator, and its own, which is not the process's
/// controlling terminal.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    const OPTIONS: c_int = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: no memory is passed.
    let emulator = owned(unsafe { libc::posix_openpt(OPTIONS) });
    let fd = emulator.as_raw_fd();
    // SAFETY: no memory is passed.
    assert_eq!(unsafe { libc::unlockpt(fd) }, 0);
    let mut path: [c_char; 64] = [0; 64];
    // SAFETY: the path is writable.
    let named = unsafe { libc::ptsname_r(fd, path.as_mut_ptr(), path.len()) };
    assert_eq!(named, 0);
    // SAFETY: a string of C.
    let terminal = owned(unsafe { libc::open(path.as_ptr(), OPTIONS) });
    (emulator, terminal)
}

/// Sets the length of a listener's queue. One connection more fits into it.
pub(crate) fn set_queue(listener: &impl AsRawFd, length: c_int) {
    // SAFETY: no memory is passed.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), length) }, 0);
}

pub(crate) fn timer() -> OwnedFd {
    // SAFETY: no memory is passed.
    owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, 0) })
}

pub(crate) fn event() -> OwnedFd {
    // SAFETY: no memory is passed.
    owned(unsafe { libc::eventfd(0, 0) })
}

/// Returns the address of a port of this machine.
fn local(to: SocketAddr) -> libc::sockaddr_in {
    // SAFETY: plain data of C.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_port = to.port().to_be();
    address.sin_addr.s_addr = u32::from(std::net::Ipv4Addr::LOCALHOST).to_be();
    address
}

pub(crate) fn connect(fd: &impl AsRawFd, to: SocketAddr) -> io::Result<usize> {
    let address = local(to);
    let (at, size) = ((&raw const address).cast(), size_of_val(&address) as u32);
    // SAFETY: an address to read.
    checked(unsafe { libc::connect(fd.as_raw_fd(), at, size) } as isize)
}

/// Connects the socket with its first bytes.
pub(crate) fn send_fast(
    fd: &impl AsRawFd,
    bytes: &[u8],
    to: SocketAddr,
) -> io::Result<usize> {
    let address = local(to);
    let (at, size) = ((&raw const address).cast(), size_of_val(&address) as u32);
    let (from, length, fast) = (bytes.as_ptr().cast(), bytes.len(), libc::MSG_FASTOPEN);
    // SAFETY: bytes and an address to read.
    checked(unsafe { libc::sendto(fd.as_raw_fd(), from, length, fast, at, size) })
}

/// Sets the sizes of both buffers of a socket.
pub(crate) fn set_buffers(fd: &impl AsRawFd, size: c_int) {
    for name in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
        let (at, length) = ((&raw const size).cast(), size_of_val(&size) as u32);
        // SAFETY: an option to read.
        let set = unsafe {
            libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, at, length)
        };
        assert_eq!(set, 0);
    }
}

/// Runs `f` in a child of `fork`, which ends after that, and waits for the child.
pub(crate) fn in_child(f: impl FnOnce()) {
    // SAFETY: the child has one thread; it calls `f` and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        f();
        // SAFETY: ends the child without the parent's handlers.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's, and its status is written here.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0));
}

/// Closes the connection with a reset.
pub(crate) fn reset(stream: TcpStream) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    let (at, size) = ((&raw const linger).cast(), size_of_val(&linger) as u32);
    let fd = stream.as_raw_fd();
    // SAFETY: an option to read.
    let set =
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, at, size) };
    assert_eq!(set, 0);
}

/// Polls no descriptor, by a null pointer.
pub(crate) fn poll_null(millis: c_int) -> io::Result<usize> {
    // SAFETY: an array without elements.
    checked(unsafe { libc::poll(ptr::null_mut(), 0, millis) } as isize)
}

pub(crate) fn waitpid(child: i32) -> io::Result<usize> {
    // SAFETY: no status is asked for.
    checked(unsafe { libc::waitpid(child, ptr::null_mut(), 0) } as isize)
}

pub(crate) fn waitid(kind: libc::idtype_t, id: i32, options: c_int) -> io::Result<usize> {
    // SAFETY: no information is asked for.
    checked(unsafe { libc::waitid(kind, id as u32, ptr::null_mut(), options) } as isize)
}

/// Sends messages of one part each; returns how much of each was sent.
pub(crate) fn sendmmsg_of(
    fd: &impl AsRawFd,
    parts: &[Vec<u8>],
) -> io::Result<Vec<usize>> {
    let mut described: Vec<_> = parts
        .iter()
        .map(|part| iovec {
            iov_base: part.as_ptr().cast::<c_void>().cast_mut(),
            iov_len: part.len(),
        })
        .collect();
    let mut all: Vec<_> = described
        .iter_mut()
        .flat_map(|part| messages(part, 1))
        .collect();
    let (at, count) = (all.as_mut_ptr(), all.len() as u32);
    // SAFETY: `count` messages, each with one part.
    let sent = checked(unsafe { libc::sendmmsg(fd.as_raw_fd(), at, count, 0) } as isize)?;
    Ok(all[..sent]
        .iter()
        .map(|message| message.msg_len as usize)
        .collect())
}

/// Moves the descriptor to a number that no other test of the process gets; `place` is below 10.
pub(crate) fn far_number(fd: OwnedFd, place: c_int) -> RawFd {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a limit to write.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let least = limit.rlim_cur.min(20_000) as c_int - 100 + 10 * place;
    // SAFETY: no memory is passed.
    let far = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) };
    checked(far as isize).map(|far| far as RawFd).unwrap()
}
