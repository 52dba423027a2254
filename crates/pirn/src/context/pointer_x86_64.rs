//! The position of the stack: a register, since a sanitizer may keep variables in memory of its
//! own.

use std::arch::asm;

/// Returns the stack pointer of the function that this is inlined into.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}
