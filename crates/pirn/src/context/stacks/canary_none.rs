//! No canary: the guard alone.

use super::stack::Stack;

/// Returns the number of bytes at the low end that are touched though no frame has reached them.
pub(super) fn touched_without_frames() -> usize {
    0
}

impl Stack {
    #[inline(always)]
    pub(crate) fn plant_canary(&self) {}
}
