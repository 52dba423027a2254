//! A socket for processes on the same machine that belong to the same user.
//!
//! Selects the implementation: Unix sockets on Unix; elsewhere, and under the model checkers, an
//! error that says that there are none.

#[cfg(all(unix, not(pirn_modelled)))]
mod place;

#[cfg(all(unix, not(pirn_modelled)))]
#[path = "unix.rs"]
mod imp;

#[cfg(not(all(unix, not(pirn_modelled))))]
#[path = "none.rs"]
mod imp;

pub(crate) use imp::{Alarm, LocalClient, LocalListener};
