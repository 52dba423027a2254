//! The functions that end the number of a descriptor.

use std::ffi::c_int;

use crate::descriptor::end;
use crate::kernel::{answer_int, call};

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn close(fd: c_int) -> c_int {
    end(fd);
    answer_int(call!(SYS_close, fd))
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    if old == new {
        // `dup3` refuses this.
        return match crate::kernel::flags(old) {
            Ok(_) => new,
            Err(error) => answer_int(Err(error)),
        };
    }
    // SAFETY: as libc's.
    unsafe { dup3(old, new, 0) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    if old != new && crate::kernel::flags(old).is_ok() {
        end(new);
    }
    answer_int(call!(SYS_dup3, old, new, flags))
}
