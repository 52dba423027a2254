//! The holder of a lock, as a number in place of a flag: for reports, at the cost of a flag.

use crate::fiber::current::{self, Local};

/// No holder.
pub(super) const FREE: u64 = 0;

/// A plain thread that has no number yet. No fiber has this one.
const NAMELESS: u64 = 1;

/// Returns the caller's number; never [`FREE`].
#[inline]
pub(super) fn number(local: &Local) -> u64 {
    current::number(local).unwrap_or(NAMELESS)
}
