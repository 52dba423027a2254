//! Systems that discard pages range by range.

use std::ptr::NonNull;

use super::map;

/// Discards pages; they read as zeros when touched again.
///
/// # Safety
/// 1. Each range is of open pages of a reservation that only the caller uses.
pub(in crate::context) unsafe fn discard_all(
    ranges: impl Iterator<Item = (NonNull<u8>, usize)>,
) {
    for (start, len) in ranges {
        // SAFETY: 1.
        unsafe { map::discard(start, len) };
    }
}
