//! A value that is read and written without any order, and the reports that do not count.

use std::cell::UnsafeCell;

/// The functions that may seem to race.
#[cfg(pirn_tsan)]
static SUPPRESSED: &std::ffi::CStr = c"race_top:^pirn::
race_top:^<pirn::
race_top:^core::
race_top:^<core::
race_top:^alloc::
race_top:^<alloc::
race_top:^std::
race_top:^<std::
race_top:memcpy
race_top:memmove
race_top:memset
race_top:^free
race_top:^malloc
race_top:^realloc
";

/// Called before anything may be instrumented, so it is not.
#[cfg(pirn_tsan)]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn __tsan_default_suppressions() -> *const std::ffi::c_char {
    std::arch::naked_asm!("mov rax, [rip + {}]", "ret", sym SUPPRESSED)
}

/// A value without an order of its own.
#[derive(Default)]
pub(crate) struct Plain(UnsafeCell<u64>);

// SAFETY: the tests order all accesses; but for `seeded_`, which is about their lack.
unsafe impl Sync for Plain {}

impl Plain {
    pub(crate) const fn new() -> Plain {
        Plain(UnsafeCell::new(0))
    }

    pub(crate) fn set(&self, value: u64) {
        // SAFETY: as above.
        unsafe { *self.0.get() = value }
    }

    pub(crate) fn get(&self) -> u64 {
        // SAFETY: as above.
        unsafe { *self.0.get() }
    }
}
