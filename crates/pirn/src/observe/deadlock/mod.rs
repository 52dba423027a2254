//! Detects fibers that can never resume.

mod detector;
mod response;
mod search;
mod trial;

pub(super) use detector::Detector;
pub(crate) use detector::verdict;
pub use response::Deadlock;
pub(crate) use trial::Trial;

#[cfg(all(test, not(pirn_modelled)))]
mod tests;
