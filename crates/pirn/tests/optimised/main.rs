//! What must hold in optimised code, which the profile `fat` builds: fat LTO and one codegen unit.
#![cfg(not(any(loom, shuttle, pirn_asan, pirn_tsan)))]
#![allow(
    clippy::disallowed_methods,
    reason = "plain threads are compared with, and watch"
)]

#[cfg(all(not(debug_assertions), target_arch = "x86_64", target_os = "linux"))]
mod child;
#[cfg(all(not(debug_assertions), target_arch = "x86_64", target_os = "linux"))]
mod decode;
#[cfg(all(not(debug_assertions), target_os = "linux"))]
mod light_load;
#[cfg(all(not(debug_assertions), target_arch = "x86_64", target_os = "linux"))]
mod rmw;
#[cfg(not(debug_assertions))]
mod sleeps;
#[cfg(all(not(debug_assertions), target_os = "linux"))]
mod stacks;
mod thread_locals;
#[cfg(all(not(debug_assertions), target_arch = "x86_64", target_os = "linux"))]
#[expect(unsafe_code, reason = "ptrace is a C function")]
mod tracer;
#[cfg(all(not(debug_assertions), target_arch = "x86_64", target_os = "linux"))]
#[path = "../../src/base/tests/unmeasured.rs"]
mod unmeasured;
