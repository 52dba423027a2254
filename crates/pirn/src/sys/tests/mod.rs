//! Tests of this module: `model_*` under loom, the others on the machine.

#[cfg(loom)]
mod model_parker;

#[cfg(not(any(loom, shuttle)))]
mod parker;
#[cfg(not(any(loom, shuttle)))]
mod poller;
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
#[expect(clippy::disallowed_methods, reason = "plain threads")]
mod probe;
#[cfg(all(target_os = "linux", target_env = "gnu", not(any(loom, shuttle))))]
mod thread_end;

#[cfg(all(target_os = "linux", not(any(loom, shuttle, pirn_tsan))))]
#[expect(clippy::disallowed_methods, reason = "plain threads")]
mod held;
#[cfg(all(target_os = "linux", not(any(loom, shuttle, pirn_tsan))))]
#[expect(unsafe_code, reason = "signals to threads")]
#[expect(clippy::disallowed_methods, reason = "plain threads")]
mod holds;
