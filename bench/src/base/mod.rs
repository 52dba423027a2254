//! The base of both programs: a child process and its answer, summaries of samples, facts of the
//! machine, lines of verdicts.
//!
//! Needs no peer: with `harness`, `report` and the like, the peers are behind the feature `peers`,
//! so that the guard builds in a fraction of the time.

mod answer;
mod complaint;
mod launch;
mod machine;
mod pin;
mod random;
mod sample;
mod stats;
mod target;
mod verdict_line;

pub use answer::{Answer, Status};
pub use complaint::Complaint;
#[cfg(all(test, feature = "peers"))]
pub(crate) use launch::tests::strays;
pub use launch::{Limits, clear_environment, launch};
pub use machine::Machine;
pub use pin::{Processors, pin};
pub use random::{Random, mix};
pub use sample::sample;
pub use stats::{Summary, gives};
pub use target::target_directory;
pub use verdict_line::verdict_line;
