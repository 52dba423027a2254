//! The hardware shadow stack of x86-64 (CET): the processor keeps a second copy of return
//! addresses, and a switch of stacks behind its back ends in a fault at the next return.

use std::io;

const ARCH_SHSTK_STATUS: i32 = 0x5005;
/// Bit of the status: shadow stacks are on in this thread.
const SHSTK: u64 = 1;

/// Approves unless this thread runs with a shadow stack; the threads it starts would too.
///
/// # Errors
/// `Unsupported`, with what to do about it.
pub(crate) fn check_shadow_stack() -> io::Result<()> {
    let mut status = 0_u64;
    // SAFETY: writes one word to `status`; a kernel that does not know the call fails.
    let result = unsafe {
        libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &raw mut status)
    };
    judge(result == 0 && status & SHSTK != 0)
}

pub(in crate::context) fn judge(active: bool) -> io::Result<()> {
    if !active {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this process runs with a hardware shadow stack, which fibers cannot switch; \
         start it without (GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK)",
    ))
}
