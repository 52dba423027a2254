//! A notice to valgrind, which must know stacks: between neighbors it takes a switch for a huge
//! frame and reports false errors.
//!
//! The request is a sequence of rotations that add up to nothing; only valgrind interprets it. A
//! stack is registered once, when it is first created, and stays registered.

use std::arch::asm;

/// The number of the request, from `valgrind.h`.
const STACK_REGISTER: usize = 0x1501;

/// Notifies valgrind, if it runs, of a stack at `start..start + len`.
pub(super) fn register_stack(start: usize, len: usize) {
    let request = [STACK_REGISTER, start, start + len, 0, 0, 0];
    // SAFETY: the rotations add up to two full turns, so no register changes but the flags and
    // `rdx`, where valgrind leaves a result; it reads the six words behind `rax`.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
}
