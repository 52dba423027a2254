//! Samples another thread of the process (registers and a copy of its frames) by a signal to it.
//!
//! Selects the implementation: on Linux on x86-64 `SIGURG`, which does nothing by default;
//! elsewhere, under the model checkers and the sanitizers none.

#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(any(pirn_modelled, pirn_asan, pirn_tsan))
))]
#[path = "linux_x86_64.rs"]
#[expect(unsafe_code, reason = "a signal handler that copies a stack")]
mod imp;

#[cfg(not(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(any(pirn_modelled, pirn_asan, pirn_tsan))
)))]
#[path = "none.rs"]
mod imp;

mod answer;

pub(crate) use answer::{EndOfStack, Sample};
pub(crate) use imp::sample;
