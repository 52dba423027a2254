//! What the system reports of a thread: its processor time, its state, and its system call.
//!
//! Selects the implementation: on Linux the processor clock and `/proc`; elsewhere, and
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
