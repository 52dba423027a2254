//! System calls that do not go through the symbols of this crate.
//!
//! All use `syscall`, which this crate does not define. The arguments are those of the caller of a
//! symbol, and the kernel checks them.

use std::ffi::{c_int, c_short, c_void};
use std::mem;
use std::time::Duration;

use libc::{pollfd, timespec, timeval};

/// The result of a system call, or the number of its error.
pub(crate) type Outcome = Result<isize, c_int>;

/// Makes the system call with this number and up to six arguments. Leaves `errno` as it was:
/// attempts that fail do not change it if the call of the symbol succeeds.
macro_rules! call {
    ($number:ident $(, $argument:expr)* $(,)?) => {{
        let before = $crate::kernel::error();
        // SAFETY: the arguments are valid for the call, or were passed by a caller of libc's
        // function of this name, which has the same contract.
        let returned = unsafe { libc::syscall(libc::$number $(, $argument)*) };
        $crate::kernel::outcome(returned as isize, before)
    }};
}
pub(crate) use call;

/// Calls `f`, and leaves `errno` as it was.
pub(crate) fn keep_errno<T>(f: impl FnOnce() -> T) -> T {
    let before = error();
    let done = f();
    set_error(before);
    done
}

/// Returns the outcome of a call that has just returned this, and restores `errno`.
pub(crate) fn outcome(returned: isize, before: c_int) -> Outcome {
    match returned {
        -1 => {
            let error = error();
            set_error(before);
            Err(error)
        }
        done => Ok(done),
    }
}

/// Returns the place of this thread's `errno`.
fn errno() -> *mut c_int {
    // SAFETY: the function has no contract.
    unsafe { libc::__errno_location() }
}

/// Returns this thread's `errno`.
pub(crate) fn error() -> c_int {
    // SAFETY: the thread's own number.
    unsafe { *errno() }
}

pub(crate) fn set_error(error: c_int) {
    // SAFETY: the thread's own number.
    unsafe { *errno() = error };
}

/// Returns what libc's function returns, and sets `errno` if it fails.
pub(crate) fn answer(outcome: Outcome) -> isize {
    outcome.unwrap_or_else(|error| {
        set_error(error);
        -1
    })
}

/// Like [`answer`], for a function that returns an `int`.
pub(crate) fn answer_int(outcome: Outcome) -> c_int {
    answer(outcome) as c_int
}

/// Returns whether calls on the descriptor block: it is open, and not `O_NONBLOCK`.
pub(crate) fn is_blocking(fd: c_int) -> bool {
    flags(fd).is_ok_and(|flags| flags & libc::O_NONBLOCK == 0)
}

pub(crate) fn flags(fd: c_int) -> Result<c_int, c_int> {
    call!(SYS_fcntl, fd, libc::F_GETFL).map(|flags| flags as c_int)
}

pub(crate) fn set_flags(fd: c_int, flags: c_int) -> Outcome {
    call!(SYS_fcntl, fd, libc::F_SETFL, flags)
}

/// Returns whether an event of `events`, or an error, is there now. The answer for a number that is
/// not open is true: the call itself then fails.
pub(crate) fn is_ready(fd: c_int, events: c_short) -> bool {
    let mut polled = [pollfd {
        fd,
        events,
        revents: 0,
    }];
    poll_now(&mut polled) != Ok(0)
}

/// Returns whether an error is pending, or for a writer, whether the connection is closed. Two
/// other meanings of `POLLERR` do not stop a writer: messages about what was sent, and a pipe
/// without readers, where the next attempt raises the signal.
pub(crate) fn is_broken(fd: c_int, writes: bool) -> bool {
    let mut polled = [pollfd {
        fd,
        events: 0,
        revents: 0,
    }];
    if poll_now(&mut polled).is_err() {
        return false;
    }
    let is_set = |event: c_short| polled[0].revents & event != 0;
    match writes {
        false => is_set(libc::POLLERR),
        true if is_set(libc::POLLHUP) => true,
        true => is_set(libc::POLLERR) && !is_pipe(fd) && !reports_what_was_sent(fd),
    }
}

/// Returns whether a socket may have messages about what was sent; true for all other descriptors.
fn reports_what_was_sent(fd: c_int) -> bool {
    [libc::SO_TIMESTAMPING, libc::SO_ZEROCOPY]
        .into_iter()
        .any(|name| option::<c_int>(fd, libc::SOL_SOCKET, name) != Ok(0))
}

/// Returns whether the reading side is closed. A call that may wait returns 0 on a datagram socket
/// then, and one that may not, `EAGAIN`.
pub(crate) fn is_read_closed(fd: c_int) -> bool {
    let mut polled = [pollfd {
        fd,
        events: libc::POLLRDHUP,
        revents: 0,
    }];
    poll_now(&mut polled).is_ok() && polled[0].revents & libc::POLLRDHUP != 0
}

/// Polls without waiting. A signal that is pending at that moment makes the system return `EINTR`
/// although nothing was waited for; then polls again.
pub(crate) fn poll_now(polled: &mut [pollfd]) -> Outcome {
    loop {
        match poll(polled, Some(Duration::ZERO)) {
            Err(libc::EINTR) => {}
            answer => return answer,
        }
    }
}

/// Polls, and blocks the thread for up to `limit`.
pub(crate) fn poll(polled: &mut [pollfd], limit: Option<Duration>) -> Outcome {
    let limit = limit.map(timespec_of);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mask = std::ptr::null::<c_void>();
    call!(
        SYS_ppoll,
        polled.as_mut_ptr(),
        polled.len(),
        limit,
        mask,
        0_usize
    )
}

/// Returns the value of an option of a socket, or zero if it is none.
fn option<T: Copy>(fd: c_int, level: c_int, name: c_int) -> Result<T, c_int> {
    // SAFETY: `T` is a type of C without invalid values: an `int`, or a `timeval`.
    let mut value: T = unsafe { mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    call!(
        SYS_getsockopt,
        fd,
        level,
        name,
        &raw mut value,
        &raw mut length
    )?;
    Ok(value)
}

/// Returns the limit of a call that is set by `SO_RCVTIMEO` or `SO_SNDTIMEO`.
pub(crate) fn time_limit(fd: c_int, name: c_int) -> Option<Duration> {
    let limit: timeval = option(fd, libc::SOL_SOCKET, name).ok()?;
    let limit = Duration::new(limit.tv_sec as u64, limit.tv_usec as u32 * 1_000);
    (!limit.is_zero()).then_some(limit)
}

/// Returns whether connections can be accepted from it.
pub(crate) fn is_listening(fd: c_int) -> bool {
    option(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) == Ok(1_i32)
}

/// Returns whether it is a socket that transfers a stream of bytes.
pub(crate) fn is_stream_socket(fd: c_int) -> bool {
    option(fd, libc::SOL_SOCKET, libc::SO_TYPE) == Ok(libc::SOCK_STREAM)
}

pub(crate) fn is_unix_socket(fd: c_int) -> bool {
    option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN) == Ok(libc::AF_UNIX)
}

/// Returns whether reads and writes are those of a file, which never waits for another process.
pub(crate) fn is_file(fd: c_int) -> bool {
    matches!(
        kind(fd),
        Some(libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK)
    )
}

pub(crate) fn is_pipe(fd: c_int) -> bool {
    kind(fd) == Some(libc::S_IFIFO)
}

fn kind(fd: c_int) -> Option<libc::mode_t> {
    // SAFETY: plain data of C.
    let mut stat: libc::stat = unsafe { mem::zeroed() };
    let known = call!(SYS_fstat, fd, &raw mut stat);
    known.is_ok().then_some(stat.st_mode & libc::S_IFMT)
}

/// Returns the time as the kernel takes it.
pub(crate) fn timespec_of(duration: Duration) -> timespec {
    timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Returns the time that a caller passes; `None` if it is not a valid one.
pub(crate) fn duration_of(time: timespec) -> Option<Duration> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    (nanos < 1_000_000_000).then(|| Duration::new(seconds, nanos))
}
