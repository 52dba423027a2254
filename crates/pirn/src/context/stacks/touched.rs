//! How deep a stack has been touched: which of its pages are in memory.

use std::ops::Range;

use super::canary;
use super::stack::Stack;
use crate::context::os;

impl Stack {
    /// Returns the number of bytes above the lowest page that has been touched since the pages were
    /// last discarded. Asks the system: for diagnostics.
    pub(crate) fn touched(&self) -> usize {
        touched(self.range())
    }
}

/// Returns the number of bytes above the lowest touched page of a stack with this usable range.
pub(super) fn touched(range: Range<usize>) -> usize {
    let limit = range.start + canary::touched_without_frames();
    os::lowest_resident(limit..range.end).map_or(0, |low| range.end - low.max(limit))
}
