//! Interfaces of the operating system for stacks; all code that depends on one system is here.
//!
//! `map`: memory. `discard`: discards pages of many stacks at once. `guard`: guards that cost no
//! mapping, where the kernel has them. `signal`: the handler of faults. `shadow_stack`: whether the
//! processor keeps return addresses of its own.

#[path = "map_unix.rs"]
mod map;

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "guard_linux.rs"]
mod guard;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "guard_none.rs"]
mod guard;

#[cfg(target_os = "linux")]
#[path = "discard_linux.rs"]
mod discard;
#[cfg(not(target_os = "linux"))]
#[path = "discard_one_by_one.rs"]
mod discard;

#[path = "signal_unix.rs"]
mod signal;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "shadow_stack_linux.rs"]
mod shadow_stack;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "shadow_stack_none.rs"]
mod shadow_stack;

pub(super) use discard::discard_all;
pub(super) use guard::{Guarding, guarding, install_guard};
pub(super) use map::{close, lowest_resident, open, page_size, release, reserve};
pub(crate) use shadow_stack::check_shadow_stack;
pub(super) use signal::{on_fault, write_stderr};
