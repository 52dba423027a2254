//! A call at the end of a thread, before its thread-locals are destroyed.
//!
//! The platform switch: the C library's list of destructors on Linux with glibc; elsewhere a
//! thread-local with a destructor, which runs before those of the thread-locals that were used
//! before it only.

#[cfg(all(target_os = "linux", target_env = "gnu", not(pirn_modelled)))]
#[expect(unsafe_code, reason = "the list of the thread's destructors")]
mod linux_gnu;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(pirn_modelled))))]
mod other;

#[cfg(all(target_os = "linux", target_env = "gnu", not(pirn_modelled)))]
pub(crate) use linux_gnu::at_thread_end;
#[cfg(all(test, target_os = "linux", target_env = "gnu", not(pirn_modelled)))]
pub(super) use linux_gnu::{enter_hook, is_first};
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(pirn_modelled))))]
pub(crate) use other::at_thread_end;
