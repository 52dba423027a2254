//! Systems that give pages back range by range.

use std::ptr::NonNull;

use super::map;

/// Gives pages back; they read as zeros when touched again.
///
/// # Safety
/// 1. Each range is of open pages of a reservation that are used by nobody but the caller.
pub(in crate::context) unsafe fn discard_all(
    ranges: impl Iterator<Item = (NonNull<u8>, usize)>,
) {
    for (start, len) in ranges {
        // SAFETY: 1.
        unsafe { map::discard(start, len) };
    }
}
