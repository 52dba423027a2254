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

/// Returns the suppressions. Naked, so that it is not instrumented: the sanitizer calls it before
/// instrumented code can run.
#[cfg(pirn_tsan)]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn __tsan_default_suppressions() -> *const std::ffi::c_char {
    std::arch::naked_asm!("mov rax, [rip + {}]", "ret", sym SUPPRESSED)
}

/// A value without an order of its own.
#[derive(Default)]
pub(crate) struct Plain(UnsafeCell<u64>);

// SAFETY: the tests order all accesses, apart from
// `seeded_race_behind_another_fiber_of_the_thread`, which plants a race.
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
