//! `read` and `write`, and their forms with several buffers, on any descriptor.
//!
//! On a socket they are `recv` and `send`. Reads of other objects, and writes to pipes, are asked
//! not to block by `RWF_NOWAIT`. An object that does not know this flag is polled first, unless it
//! is `O_NONBLOCK`. (Another thread may read what was there in between: then the call blocks.)
//! Calls on files, and writes to all else, are made as they are, and counted.

use std::ffi::{c_int, c_void};

use libc::{iovec, size_t, ssize_t};

use crate::kernel::{Outcome, answer, call, is_blocking, is_file, is_pipe};
use crate::operation::{Failed, Operation};
use crate::region::is_parking;
use crate::sockets;
use crate::stats::Function;
use crate::vector::{parts, rest, total};

/// `RWF_NOWAIT`.
const NOWAIT: c_int = 8;
/// The position of the descriptor itself.
const HERE: isize = -1;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn read(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
) -> ssize_t {
    let plain = || call!(SYS_read, fd, buffer, length);
    if length == 0 || !is_parking() {
        return answer(plain());
    }
    Function::Read.count_call();
    let part = [iovec {
        iov_base: buffer,
        iov_len: length,
    }];
    let operation = Operation::drains(Function::Read, fd, length);
    answer(read_into(operation, &part, plain))
}

/// As `read`, with a check of the buffer's size.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __read_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    size: size_t,
) -> ssize_t {
    sockets::check(length, size);
    // SAFETY: the caller's promise.
    unsafe { read(fd, buffer, length) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readv(
    fd: c_int,
    list: *const iovec,
    count: c_int,
) -> ssize_t {
    let plain = || call!(SYS_readv, fd, list, count);
    let Some(count) = valid(list, count).filter(|_| is_parking()) else {
        return answer(plain());
    };
    // SAFETY: the caller's promise.
    let whole = unsafe { parts(list, count) };
    if total(whole) == 0 {
        return answer(plain());
    }
    Function::Readv.count_call();
    let operation = Operation::reads(Function::Readv, fd);
    answer(read_into(operation, whole, plain))
}

/// Returns the number of parts, if the array may have that many.
fn valid(list: *const iovec, count: c_int) -> Option<usize> {
    let count = usize::try_from(count).ok()?;
    (!list.is_null() && (1..=1_024).contains(&count)).then_some(count)
}

fn read_into(
    operation: Operation,
    whole: &[iovec],
    plain: impl Fn() -> Outcome,
) -> Outcome {
    let fd = operation.fd;
    let failed = Failed::default();
    let received = operation.run(|| failed.or_end(fd, receive(fd, whole), &plain));
    if received != Err(libc::ENOTSOCK) {
        return received;
    }
    if is_file(fd) {
        let _block = operation.function.blocks();
        return plain();
    }
    operation.run(|| {
        let (list, count) = (whole.as_ptr(), whole.len());
        match call!(SYS_preadv2, fd, list, count, HERE, HERE, NOWAIT) {
            Err(error) if is_unknown(error) && is_blocking(fd) => {
                operation.if_ready(&plain)
            }
            Err(error) if is_unknown(error) => plain(),
            done => done,
        }
    })
}

/// Returns whether the object does not know `RWF_NOWAIT`.
fn is_unknown(error: c_int) -> bool {
    matches!(error, libc::EOPNOTSUPP | libc::ENOSYS)
}

fn receive(fd: c_int, parts: &[iovec]) -> Outcome {
    let mut message = message(parts);
    call!(SYS_recvmsg, fd, &raw mut message, libc::MSG_DONTWAIT)
}

/// Returns a message that points to the parts.
fn message(parts: &[iovec]) -> libc::msghdr {
    // SAFETY: plain data of C, in which null and zero are nothing.
    let empty: libc::msghdr = unsafe { std::mem::zeroed() };
    libc::msghdr {
        msg_iov: parts.as_ptr().cast_mut(),
        msg_iovlen: parts.len(),
        ..empty
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
) -> ssize_t {
    if is_standard(fd) || length == 0 || !is_parking() {
        return answer(call!(SYS_write, fd, buffer, length));
    }
    Function::Write.count_call();
    let part = [iovec {
        iov_base: buffer.cast_mut(),
        iov_len: length,
    }];
    let plain = || call!(SYS_write, fd, buffer, length);
    answer(write_out_of(
        Operation::writes(Function::Write, fd),
        &part,
        plain,
    ))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn writev(
    fd: c_int,
    list: *const iovec,
    count: c_int,
) -> ssize_t {
    let plain = || call!(SYS_writev, fd, list, count);
    let valid = valid(list, count).filter(|_| !is_standard(fd) && is_parking());
    let Some(count) = valid else {
        return answer(plain());
    };
    Function::Writev.count_call();
    // SAFETY: the caller's promise.
    let whole = unsafe { parts(list, count) };
    if total(whole) == 0 {
        return answer(plain());
    }
    let operation = Operation::writes(Function::Writev, fd);
    answer(write_out_of(operation, whole, plain))
}

/// Returns whether it is standard output or error. `std` holds a lock by thread over the call,
/// which another fiber of the thread would pass.
fn is_standard(fd: c_int) -> bool {
    matches!(fd, libc::STDOUT_FILENO | libc::STDERR_FILENO)
}

fn write_out_of(
    operation: Operation,
    whole: &[iovec],
    plain: impl Fn() -> Outcome,
) -> Outcome {
    let fd = operation.fd;
    let total = total(whole);
    let sent = operation.run_to_end(total, |moved| {
        let rest = rest(whole, moved);
        let message = message(&rest);
        call!(SYS_sendmsg, fd, &raw const message, libc::MSG_DONTWAIT)
    });
    if sent != Err(libc::ENOTSOCK) {
        return sent;
    }
    // Other objects, such as terminals, cannot be asked how much they take.
    if !is_pipe(fd) {
        let _block = operation.function.blocks();
        return plain();
    }
    operation.run_to_end(total, |moved| {
        let rest = rest(whole, moved);
        let (list, count) = (rest.as_ptr(), rest.len());
        match call!(SYS_pwritev2, fd, list, count, HERE, HERE, NOWAIT) {
            Err(error) if is_unknown(error) && is_blocking(fd) => {
                operation.if_ready(|| write_a_little(fd, &rest))
            }
            Err(error) if is_unknown(error) => call!(SYS_writev, fd, list, count),
            done => done,
        }
    })
}

/// Writes as many bytes as a pipe that is ready has room for.
fn write_a_little(fd: c_int, parts: &[iovec]) -> Outcome {
    if total(parts) <= libc::PIPE_BUF {
        return call!(SYS_writev, fd, parts.as_ptr(), parts.len());
    }
    let first = parts[0];
    call!(
        SYS_write,
        fd,
        first.iov_base,
        first.iov_len.min(libc::PIPE_BUF)
    )
}
