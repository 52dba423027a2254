//! The functions of sockets.
//!
//! Receiving and sending never block with `MSG_DONTWAIT`. `accept` has no such flag: it is called
//! if a connection is there, by one fiber of the process at a time, since several descriptors may
//! stand for one listener. (A thread outside of the region, or another process, may take that
//! connection: then the call blocks until the next one, and so do other calls of `accept`.)
//! `connect` is called with `O_NONBLOCK` set, and waits afterwards.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use libc::{size_t, sockaddr, socklen_t, ssize_t};
use pirn::cancel;
use pirn::time::now;

use crate::descriptor::{Call, Ended, errno_of, pause_for};
use crate::kernel::{
    self, Outcome, answer, answer_int, call, is_blocking, is_listening, is_ready,
    is_stream_socket, is_unix_socket,
};
use crate::operation::{Failed, Operation};
use crate::region::{is_parking, may_park};
use crate::stats::Function;

/// Held while a connection is accepted.
#[expect(clippy::disallowed_methods, reason = "held for two system calls")]
static ACCEPTING: Mutex<()> = Mutex::new(());

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recv(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    let (address, room) = (ptr::null_mut(), ptr::null_mut());
    answer(receive(
        Function::Recv,
        fd,
        (buffer, length, flags),
        (address, room),
    ))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
    address: *mut sockaddr,
    room: *mut socklen_t,
) -> ssize_t {
    answer(receive(
        Function::Recvfrom,
        fd,
        (buffer, length, flags),
        (address, room),
    ))
}

/// `recv` with a check of the buffer's size, which code calls that was compiled with
/// `_FORTIFY_SOURCE`.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    size: size_t,
    flags: c_int,
) -> ssize_t {
    check(length, size);
    // SAFETY: the caller's promise.
    unsafe { recv(fd, buffer, length, flags) }
}

/// As [`__recv_chk`].
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    size: size_t,
    flags: c_int,
    address: *mut sockaddr,
    room: *mut socklen_t,
) -> ssize_t {
    check(length, size);
    // SAFETY: the caller's promise.
    unsafe { recvfrom(fd, buffer, length, flags, address, room) }
}

/// Ends the process if a caller passes more bytes than its buffer has.
pub(crate) fn check(length: size_t, size: size_t) {
    if length > size {
        eprintln!("pirn-hooks: a call is given {length} bytes of a buffer of {size}");
        std::process::abort();
    }
}

fn receive(
    function: Function,
    fd: c_int,
    (buffer, length, flags): (*mut c_void, size_t, c_int),
    (address, room): (*mut sockaddr, *mut socklen_t),
) -> Outcome {
    let kernel = |moved: usize, flags: c_int| {
        let (buffer, length) = (buffer.wrapping_byte_add(moved), length - moved);
        call!(SYS_recvfrom, fd, buffer, length, flags, address, room)
    };
    if flags & never_waits() != 0 || !is_parking() {
        return kernel(0, flags);
    }
    function.count_call();
    // `recvfrom` is for datagrams: one may follow the other.
    let operation = match function == Function::Recv && flags & libc::MSG_PEEK == 0 {
        true => Operation::drains(function, fd, length),
        false => Operation::reads(function, fd),
    };
    let failed = Failed::default();
    let attempt = |moved| {
        let attempt = kernel(moved, flags | libc::MSG_DONTWAIT);
        failed.or_end(fd, attempt, || kernel(moved, flags))
    };
    if flags & libc::MSG_WAITALL == 0 {
        return operation.run(|| attempt(0));
    }
    // A peek does not make progress by being repeated.
    if flags & libc::MSG_PEEK != 0 && is_blocking(fd) {
        let block = function.blocks_unless_cancelled();
        return block.and_then(|_block| kernel(0, flags));
    }
    match is_stream_socket(fd) {
        true => operation.run_to_end(length, attempt),
        false => operation.run(|| attempt(0)),
    }
}

/// Returns the flags of calls that return at once.
pub(crate) fn never_waits() -> c_int {
    libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE | libc::MSG_OOB
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn send(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    answer(transmit(
        Function::Send,
        fd,
        (buffer, length, flags),
        (ptr::null(), 0),
    ))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    size: socklen_t,
) -> ssize_t {
    answer(transmit(
        Function::Sendto,
        fd,
        (buffer, length, flags),
        (address, size),
    ))
}

/// Sends all bytes, as a blocking call does on a stream. On other sockets a call sends all or
/// nothing.
pub(crate) fn transmit(
    function: Function,
    fd: c_int,
    (buffer, length, flags): (*const c_void, size_t, c_int),
    (address, size): (*const sockaddr, socklen_t),
) -> Outcome {
    let kernel = |moved: usize, flags: c_int| {
        let (buffer, length) = (buffer.wrapping_byte_add(moved), length - moved);
        call!(SYS_sendto, fd, buffer, length, flags, address, size)
    };
    if flags & libc::MSG_DONTWAIT != 0 || !is_parking() {
        return kernel(0, flags);
    }
    function.count_call();
    if connects(fd, flags) {
        let block = function.blocks_unless_cancelled();
        return block.and_then(|_block| kernel(0, flags));
    }
    Operation::writes(function, fd)
        .run_to_end(length, |moved| kernel(moved, flags | libc::MSG_DONTWAIT))
}

/// Returns true for a send that may have to wait until its socket is connected. With `MSG_DONTWAIT`
/// it would fail with `EINPROGRESS`.
pub(crate) fn connects(fd: c_int, flags: c_int) -> bool {
    flags & libc::MSG_FASTOPEN != 0 && is_blocking(fd)
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn accept(
    fd: c_int,
    address: *mut sockaddr,
    room: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { accept4(fd, address, room, 0) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    room: *mut socklen_t,
    flags: c_int,
) -> c_int {
    let kernel = || call!(SYS_accept4, fd, address, room, flags);
    if !is_parking() {
        return answer_int(kernel());
    }
    Function::Accept.count_call();
    let operation = Operation::reads(Function::Accept, fd);
    answer_int(operation.run(|| {
        // The system refuses other flags at once.
        if !is_blocking(fd) || flags & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) != 0 {
            return kernel();
        }
        let _alone = ACCEPTING.lock().unwrap_or_else(PoisonError::into_inner);
        match is_ready(fd, libc::POLLIN) || !is_listening(fd) {
            true => kernel(),
            false => Err(libc::EAGAIN),
        }
    }))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn connect(
    fd: c_int,
    address: *const sockaddr,
    size: socklen_t,
) -> c_int {
    let kernel = || call!(SYS_connect, fd, address, size);
    if !may_park() || !is_blocking(fd) {
        return answer_int(kernel());
    }
    Function::Connect.count_call();
    answer_int(establish(fd, kernel))
}

/// Connects a socket that blocks.
fn establish(fd: c_int, kernel: impl Fn() -> Outcome) -> Outcome {
    cancel::check().map_err(errno_of)?;
    let limit = kernel::time_limit(fd, libc::SO_SNDTIMEO);
    let until = limit.and_then(|limit| now().checked_add(limit));
    let mut call = Call::default();
    call.check(fd)?;
    let flags = kernel::flags(fd)?;
    loop {
        call.check(fd)?;
        kernel::set_flags(fd, flags | libc::O_NONBLOCK)?;
        let begun = kernel();
        // The number may stand for another object now, which keeps its flags.
        call.check(fd)?;
        kernel::set_flags(fd, flags)?;
        match begun {
            Err(late @ (libc::EINPROGRESS | libc::EALREADY)) => {
                return finish((fd, call), (until, late), kernel);
            }
            // The queue of a Unix socket is full, and the system does not report when it is not.
            Err(libc::EAGAIN) if is_unix_socket(fd) => pause(until)?,
            done => return done,
        }
    }
}

/// Waits until a connection that has been begun is established, or has failed. Then `kernel` does
/// not wait: it returns which, and the socket has its final state. Fails with `late` if `until` has
/// passed.
fn finish(
    (fd, mut call): (c_int, Call),
    (until, late): (Option<Instant>, c_int),
    kernel: impl Fn() -> Outcome,
) -> Outcome {
    let operation = Operation::writes(Function::Connect, fd);
    loop {
        let seen = call.look(fd)?;
        if is_ready(fd, operation.events()) {
            match kernel() {
                Err(libc::EISCONN) => return Ok(0),
                Err(libc::EALREADY | libc::EINPROGRESS) => {}
                done => return done,
            }
        }
        match operation.park(seen, until) {
            Ok(()) => {}
            Err(Ended::TimedOut) if is_ready(fd, operation.events()) => {}
            Err(Ended::TimedOut) => return Err(late),
            Err(Ended::Failed(error)) => return Err(error),
            Err(Ended::Unwatchable) => match operation.block(until) {
                Err(libc::EAGAIN) => return Err(late),
                done => done?,
            },
        }
    }
}

/// Sleeps for a moment before the next attempt to join a queue that is full.
fn pause(until: Option<Instant>) -> Result<(), c_int> {
    if until.is_some_and(|until| now() >= until) {
        return Err(libc::EAGAIN);
    }
    Function::Connect.count_park();
    pause_for(Duration::from_millis(1))
}
