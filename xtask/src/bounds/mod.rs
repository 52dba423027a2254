//! bench/BOUNDS.md: the bounds of promises that are proven by a measurement, with their last
//! verdicts.
//!
//! Owns reading the table, writing verdicts into it, and finding the *open* rows of
//! docs/features.md: a bound is missed, was never measured, or its verdict is older than 60
//! commits. A bound that was kept once and is missed now is *lost*, until it is kept again.

mod docs;
mod open;
mod record;
mod table;

pub(crate) use docs::docs;
pub(crate) use open::{complaints, history, open};
pub(crate) use record::record;
pub(crate) use table::{Bound, PATH, read};
#[cfg(test)]
pub(crate) use table::{HEAD, parse};

#[cfg(test)]
mod tests;
