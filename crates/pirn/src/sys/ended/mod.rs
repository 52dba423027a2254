//! A descriptor that becomes readable when a child process ends.
//!
//! Selects the implementation: the system's own descriptors of processes on Linux; elsewhere, and
//! where the system has none, a thread that waits for the child. Neither takes the child's status,
//! which is left for the caller.

#[cfg(target_os = "linux")]
mod linux;
mod thread;

#[cfg(target_os = "linux")]
pub(crate) use linux::ended;
#[cfg(not(target_os = "linux"))]
pub(crate) use thread::ended;
