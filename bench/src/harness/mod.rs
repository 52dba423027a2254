//! The parent's side: starts children in turn, collects their output.
//!
//! Repetitions go round robin: floors, then every case with every peer, then again from
//! the start, the peers rotated by one. So a slow minute of the machine affects all equally.

mod bootstrap;
mod results;
mod rounds;

#[cfg(test)]
pub(crate) use crate::base::strays;
pub use crate::base::{
    Answer, Complaint, Machine, Processors, Status, Summary, clear_environment, gives,
    is_quiet, launch, pin,
};
pub use bootstrap::sure_ratio;
pub use results::{Cell, Results};
pub use rounds::{Plan, Programs, run};
