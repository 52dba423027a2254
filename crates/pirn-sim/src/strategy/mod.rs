//! Strategies: which of the ready fibers runs next, and which of its ready cases a select takes.
//!
//! Each sees the numbers of the ready fibers, the steps before which they were stopped, and the
//! fiber that ran last, and nothing else of the program. A strategy is made anew for each run, from
//! the run's seed, but for two that continue from earlier runs: `exhaustive` and `guided`.

mod conflict;
mod delays;
mod exhaustive;
#[cfg(test)]
mod fake;
mod guided;
mod kind;
mod patience;
mod pct;
mod pos;
mod random;

pub(crate) use exhaustive::Exhaustive;
#[cfg(test)]
pub(crate) use fake::Fake;
pub(crate) use guided::Guide;
pub(crate) use kind::canonical;

pub use kind::Strategy;
