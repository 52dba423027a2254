//! The parent's side: starts children in turn, collects what they print.
//!
//! Repetitions go round robin: floors, then every case with every peer, then again from
//! the start, the peers rotated by one. So a slow minute of the machine hits all alike.

mod answer;
mod bootstrap;
mod complaint;
mod launch;
mod machine;
mod pin;
mod plan;
mod quiet;
mod results;
mod rounds;
mod stats;

pub use answer::{Answer, Status};
pub use bootstrap::sure_ratio;
pub use complaint::Complaint;
pub use launch::{Limits, launch};
pub use machine::Machine;
pub use pin::{Processors, pin};
pub use plan::Plan;
pub(crate) use quiet::is_quiet;
pub use results::{Cell, Results};
pub use rounds::{Programs, run};
pub use stats::{Summary, gives};
