//! Being told of the end of a child process by a descriptor, which can be read from then on.
//!
//! The door that picks how: the system's own descriptors of processes on Linux; elsewhere, and
//! where the system has none, a thread that waits for the child. Neither takes the child's
//! status: that is left to whoever asks for it then.

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a system call, whose result is a descriptor")]
mod linux;
#[expect(unsafe_code, reason = "waitid")]
mod thread;

#[cfg(target_os = "linux")]
pub(crate) use linux::ended;
#[cfg(not(target_os = "linux"))]
pub(crate) use thread::ended;
