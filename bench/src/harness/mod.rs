//! The parent's side: starts children in turn, collects their output.
//!
//! Each repetition measures the floors, then every case with every peer. The next one begins with the
//! next peer. So a slow minute of the machine does not fall on one peer alone.

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
