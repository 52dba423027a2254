//! The notices that sanitizers need about stacks and switches.
//!
//! One of three files with the same interface: `none` compiles to nothing, `address` (by
//! `--cfg pirn_asan`) is for AddressSanitizer and LeakSanitizer, `thread` (by `--cfg pirn_tsan`)
//! for ThreadSanitizer. Stable compilers do not report which sanitizer they build for, hence cfgs
//! of this library.

#[cfg(not(any(pirn_asan, pirn_tsan)))]
#[path = "none.rs"]
mod chosen;

#[cfg(pirn_asan)]
#[path = "address.rs"]
mod chosen;

#[cfg(all(pirn_tsan, not(pirn_asan)))]
#[path = "thread.rs"]
mod chosen;

#[cfg(all(pirn_tsan, not(pirn_asan)))]
pub(crate) use chosen::order_no_switches;
pub(super) use chosen::*;
pub(crate) use chosen::{INHERITS, hand_on, take_over};
