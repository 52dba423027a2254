//! The system's view of a thread: whether it waits in a system call.
//!
//! Selects the implementation: on Linux the thread's processor clock and its state; elsewhere, and
//! under the model checkers, nothing is known.

#[cfg(all(target_os = "linux", not(pirn_modelled)))]
#[path = "linux.rs"]
mod imp;

#[cfg(not(all(target_os = "linux", not(pirn_modelled))))]
#[path = "none.rs"]
mod imp;

mod activity;

pub(crate) use activity::Activity;
pub(crate) use imp::ThreadProbe;
