//! Tests of the module, by file. They share `ride`, a small driver of fibers, and `alone`, for
//! tests that need a process of their own.

mod alone;
mod cache;
mod cost;
mod layout;
mod pool;
mod ride;
mod switch;

#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "registers_x86_64.rs"]
mod registers;

#[cfg(all(target_arch = "x86_64", unix, not(feature = "corosensei")))]
#[path = "beside_x86_64.rs"]
mod beside;

#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
#[path = "memory_linux.rs"]
mod memory;

#[cfg(pirn_asan)]
#[path = "leaks_asan.rs"]
mod leaks;

#[cfg(pirn_tsan)]
#[path = "races_tsan.rs"]
mod races;

// ThreadSanitizer's own handler does not fit on the alternate stack that std makes.
#[cfg(not(pirn_tsan))]
mod overflow;
