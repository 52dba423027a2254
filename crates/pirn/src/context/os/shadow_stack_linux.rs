//! The hardware shadow stack of x86-64 (CET). The processor keeps a second copy of return
//! addresses, and a switch of stacks that it does not know of causes a fault at the next return.

use std::io;

/// From the kernel's `asm/prctl.h`.
const ARCH_SHSTK_STATUS: i32 = 0x5005;
/// Bit of the status: shadow stacks are on in this thread.
const SHSTK: u64 = 1;

/// Returns an error if this thread runs with a shadow stack; the threads that it starts would too.
///
/// # Errors
/// `Unsupported`, with the remedy.
pub(crate) fn check_shadow_stack() -> io::Result<()> {
    let mut status = 0_u64;
    // SAFETY: writes one word to `status`; a kernel that does not know the call fails.
    let result = unsafe {
        libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &raw mut status)
    };
    judge(result == 0 && status & SHSTK != 0)
}

fn judge(active: bool) -> io::Result<()> {
    if !active {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this process runs with a hardware shadow stack, which fibers cannot switch; \
         start it without (GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK)",
    ))
}

#[cfg(test)]
mod tests {
    use super::{check_shadow_stack, judge};

    #[test]
    fn a_shadow_stack_is_refused_with_a_remedy() {
        assert!(judge(false).is_ok());
        let error = judge(true).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("GLIBC_TUNABLES"));
    }

    #[test]
    fn the_check_agrees_with_what_the_system_lists() {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let features = status
            .lines()
            .find(|line| line.starts_with("x86_Thread_features:"));
        let active = features.is_some_and(|line| line.contains("shstk"));
        assert_eq!(check_shadow_stack().is_err(), active);
    }
}
