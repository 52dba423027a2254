//! The functions that free or replace a descriptor: `close`, `close_range`, `dup2`, `dup3`.

use std::ffi::{c_int, c_uint};

use crate::descriptor::{ending, ending_range};
use crate::kernel::{answer_int, call, flags};

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close(fd: c_int) -> c_int {
    answer_int(ending(fd, || call!(SYS_close, fd)))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close_range(
    first: c_uint,
    last: c_uint,
    flags: c_int,
) -> c_int {
    let kernel = || call!(SYS_close_range, first, last, flags);
    answer_int(match flags {
        0 => ending_range(first, last, kernel),
        _ => kernel(),
    })
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    if old == new {
        // `dup3` refuses this.
        return answer_int(flags(old).map(|_| new as isize));
    }
    // SAFETY: as libc's.
    unsafe { dup3(old, new, 0) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup3(old: c_int, new: c_int, options: c_int) -> c_int {
    let kernel = || call!(SYS_dup3, old, new, options);
    let ends = old != new && options & !libc::O_CLOEXEC == 0 && flags(old).is_ok();
    answer_int(match ends {
        true => ending(new, kernel),
        false => kernel(),
    })
}
