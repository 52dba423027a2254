//! What the sanitizers must be told about stacks and switches.
//!
//! One of three files with the same surface: `none` compiles to nothing, `address` (by
//! `--cfg pirn_asan`) speaks to AddressSanitizer and LeakSanitizer, `thread` (by
//! `--cfg pirn_tsan`) to ThreadSanitizer. The compiler does not say on stable which
//! sanitizer it builds for, hence cfgs of our own.

#[cfg(not(any(pirn_asan, pirn_tsan)))]
#[path = "none.rs"]
mod chosen;

#[cfg(pirn_asan)]
#[path = "address.rs"]
mod chosen;

#[cfg(all(pirn_tsan, not(pirn_asan)))]
#[path = "thread.rs"]
mod chosen;

pub(crate) use chosen::INHERITS;
pub(super) use chosen::*;
