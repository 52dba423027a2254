//! The functions of sockets that take descriptions of messages.

use std::ffi::{c_int, c_uint};
use std::ptr;
use std::slice;

use libc::{iovec, mmsghdr, msghdr, ssize_t, timespec};

use crate::descriptor::Call;
use crate::kernel::{Outcome, answer, answer_int, call, is_blocking};
use crate::operation::{Failed, Operation};
use crate::region::is_parking;
use crate::sockets::{connects, never_waits};
use crate::stats::Function;
use crate::vector::{parts, rest, total};

/// The most parts of a message, and messages of a call (`UIO_MAXIOV`).
const MOST: usize = 1_024;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvmsg(
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    let kernel = |flags: c_int| call!(SYS_recvmsg, fd, message, flags);
    if flags & never_waits() != 0 || !is_parking() {
        return answer(kernel(flags));
    }
    Function::Recvmsg.count_call();
    if flags & libc::MSG_WAITALL != 0 && is_blocking(fd) {
        let block = Function::Recvmsg.blocks_unless_cancelled();
        return answer(block.and_then(|_block| kernel(flags)));
    }
    let operation = Operation::reads(Function::Recvmsg, fd);
    let failed = Failed::default();
    answer(operation.run(|| {
        let attempt = kernel(flags | libc::MSG_DONTWAIT);
        failed.or_end(fd, attempt, || kernel(flags))
    }))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmsg(
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    let parks = flags & libc::MSG_DONTWAIT == 0 && is_parking();
    // SAFETY: the caller's promise.
    let Some(described) = unsafe { message.as_ref() }.filter(|_| parks) else {
        return answer(call!(SYS_sendmsg, fd, message, flags));
    };
    Function::Sendmsg.count_call();
    if connects(fd, flags) {
        let block = Function::Sendmsg.blocks_unless_cancelled();
        return answer(block.and_then(|_block| call!(SYS_sendmsg, fd, message, flags)));
    }
    // SAFETY: the caller's promise.
    answer(unsafe { transmit_message(fd, *described, flags) })
}

/// # Safety
/// The message is valid.
unsafe fn transmit_message(fd: c_int, message: msghdr, flags: c_int) -> Outcome {
    if message.msg_iovlen > MOST || (message.msg_iov.is_null() && message.msg_iovlen > 0)
    {
        // It fails.
        return call!(SYS_sendmsg, fd, &raw const message, flags);
    }
    // SAFETY: the caller's promise.
    let whole = unsafe { parts(message.msg_iov, message.msg_iovlen) };
    let attempt = |moved| {
        if moved == 0 {
            return send_part(fd, message, whole, flags);
        }
        // The control data went with the first part.
        let rest_of_it = msghdr {
            msg_control: ptr::null_mut(),
            msg_controllen: 0,
            ..message
        };
        send_part(fd, rest_of_it, &rest(whole, moved), flags)
    };
    Operation::writes(Function::Sendmsg, fd).run_to_end(total(whole), attempt)
}

fn send_part(fd: c_int, message: msghdr, parts: &[iovec], flags: c_int) -> Outcome {
    let message = msghdr {
        msg_iov: parts.as_ptr().cast_mut(),
        msg_iovlen: parts.len(),
        ..message
    };
    call!(
        SYS_sendmsg,
        fd,
        &raw const message,
        flags | libc::MSG_DONTWAIT
    )
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    let kernel = |moved: usize, flags: c_int| {
        let (messages, count) = (messages.wrapping_add(moved), count as usize - moved);
        call!(SYS_recvmmsg, fd, messages, count, flags, limit)
    };
    if flags & never_waits() != 0 || !is_parking() {
        return answer_int(kernel(0, flags));
    }
    Function::Recvmmsg.count_call();
    if !limit.is_null() && is_blocking(fd) {
        let block = Function::Recvmmsg.blocks_unless_cancelled();
        return answer_int(block.and_then(|_block| kernel(0, flags)));
    }
    let operation = Operation::reads(Function::Recvmmsg, fd);
    let failed = Failed::default();
    let attempt = |moved| {
        let attempt = kernel(moved, flags | libc::MSG_DONTWAIT);
        failed.or_end(fd, attempt, || kernel(moved, flags))
    };
    answer_int(match flags & libc::MSG_WAITFORONE {
        0 => operation.run_to_end(count as usize, attempt),
        _ => operation.run(|| attempt(0)),
    })
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    if flags & libc::MSG_DONTWAIT != 0
        || messages.is_null()
        || count == 0
        || !is_parking()
    {
        return answer_int(call!(SYS_sendmmsg, fd, messages, count, flags));
    }
    Function::Sendmmsg.count_call();
    if connects(fd, flags) {
        let block = Function::Sendmmsg.blocks_unless_cancelled();
        let send = |_block| call!(SYS_sendmmsg, fd, messages, count, flags);
        return answer_int(block.and_then(send));
    }
    // The kernel sends no more than this.
    let count = count.min(MOST as c_uint) as usize;
    // SAFETY: the caller's promise.
    let messages = unsafe { slice::from_raw_parts_mut(messages, count) };
    let (mut sent, mut call) = (0, Call::default());
    for message in messages {
        // The number may have ended while the last message waited.
        if call.check(fd).is_err() {
            break;
        }
        let described = message.msg_hdr;
        // SAFETY: the caller's promise.
        match unsafe { transmit_message(fd, described, flags) } {
            Ok(length) => message.msg_len = length as c_uint,
            Err(error) if sent == 0 => return answer_int(Err(error)),
            Err(_) => break,
        }
        sent += 1;
        // SAFETY: the caller's promise.
        let whole = unsafe { parts(described.msg_iov, described.msg_iovlen) };
        // The next message must not follow a part of this one.
        if (message.msg_len as usize) < total(whole) {
            break;
        }
    }
    sent
}
