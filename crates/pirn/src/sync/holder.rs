//! Who has a lock, as a number that lies where a flag would: for reports, at the price of a
//! flag.

use crate::fiber::current::{self, Local};

/// Nobody.
pub(super) const FREE: u64 = 0;

/// A plain thread that has no number yet. No fiber has this one.
const NAMELESS: u64 = 1;

/// The caller's number; never [`FREE`].
#[inline]
pub(super) fn number(local: &Local) -> u64 {
    current::number(local).unwrap_or(NAMELESS)
}
