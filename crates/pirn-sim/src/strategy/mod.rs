//! Strategies: which of the ready fibers runs next.
//!
//! Each sees the numbers of the ready fibers and of the one that ran last, and nothing else of the
//! program. A strategy is made anew for each run, from the run's seed.

mod delays;
mod exhaustive;
mod kind;
mod patience;
mod pct;
mod random;

pub(crate) use exhaustive::Exhaustive;
pub(crate) use kind::canonical;

pub use kind::Strategy;
