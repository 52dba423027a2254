//! Two requests to callgrind, from inside the counted process.
//!
//! Valgrind recognizes a sequence of instructions that does nothing on a real processor.

#[cfg(target_arch = "x86_64")]
mod request {
    use std::arch::asm;

    /// Callgrind's requests: reset all counts; stop counting.
    pub(super) const ZERO: u64 = TOOL + 1;
    pub(super) const STOP: u64 = TOOL + 5;

    /// Requests to callgrind start here: its letters, `C` and `T`.
    const TOOL: u64 = 0x4354_0000;

    pub(super) fn send(request: u64) {
        let words = [request, 0, 0, 0, 0, 0];
        // SAFETY: the rotations add up to whole turns and the exchange is with itself, so
        // that only `rdx` changes, which is named; valgrind reads `words`, which are alive.
        unsafe {
            asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") words.as_ptr(),
                inout("rdx") 0u64 => _,
            );
        }
    }
}

/// Without such a sequence the whole process is counted.
#[cfg(not(target_arch = "x86_64"))]
mod request {
    pub(super) const ZERO: u64 = 0;
    pub(super) const STOP: u64 = 0;
    pub(super) fn send(_request: u64) {}
}

/// Calls `work`; callgrind counts only this.
pub(super) fn counted(work: impl FnOnce()) {
    request::send(request::ZERO);
    work();
    request::send(request::STOP);
}
