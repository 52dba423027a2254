//! Functions that move bytes from one descriptor to another within the kernel.
//!
//! They have no flag that keeps them from blocking on a socket. So on descriptors that may block
//! they fail with `EINVAL`, as on those that do not support them: `std::io::copy` and other callers
//! then read and write.

use std::ffi::{c_int, c_uint};

use libc::{off_t, off64_t, size_t, ssize_t};

use crate::kernel::{Outcome, answer, call, is_blocking, is_file};
use crate::region::is_parking;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    answer(unless_blocking(&[to], || {
        call!(SYS_sendfile, to, from, offset, count)
    }))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile64(
    to: c_int,
    from: c_int,
    offset: *mut off64_t,
    count: size_t,
) -> ssize_t {
    answer(unless_blocking(&[to], || {
        call!(SYS_sendfile, to, from, offset, count)
    }))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut off64_t,
    to: c_int,
    to_offset: *mut off64_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let kernel = || call!(SYS_splice, from, from_offset, to, to_offset, count, flags);
    answer(match flags & libc::SPLICE_F_NONBLOCK {
        0 => unless_blocking(&[from, to], kernel),
        _ => kernel(),
    })
}

fn unless_blocking(descriptors: &[c_int], kernel: impl FnOnce() -> Outcome) -> Outcome {
    let may_block = |fd: &c_int| is_blocking(*fd) && !is_file(*fd);
    match is_parking() && descriptors.iter().any(may_block) {
        true => Err(libc::EINVAL),
        false => kernel(),
    }
}
