//! The base of both programs: a child process and its answer, summaries of samples, facts of the
//! machine, lines of verdicts.
//!
//! Needs no peer: with `harness`, `report` and the like, the peers are behind the feature `peers`,
//! so that the guard builds in a fraction of the time.

mod answer;
mod launch;
mod machine;
mod pin;
mod quiet;
mod random;
mod stats;

pub use answer::{Answer, Status, sample, verdict_line};
#[cfg(all(test, feature = "peers"))]
pub(crate) use launch::tests::strays;
pub use launch::{Complaint, clear_environment, launch, step};
pub use machine::{Machine, target_directory};
pub use pin::{Processors, pin};
pub use quiet::{is_quiet, others};
pub use random::{Random, mix};
pub use stats::{Summary, gives};
