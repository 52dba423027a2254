//! The canary: a known pattern at the low end of a stack. It is the last memory that is overwritten
//! before the guard, and the first that a stray write from the stack below would hit.
//!
//! It touches the lowest page of each stack, which then costs one page more.

use super::stack::Stack;
use crate::context::os;

/// The value of the words, before the index of each is mixed in.
const PATTERN: u64 = 0x5f1b_e12a_11d0_c0de;

/// The number of words: a cache line.
const WORDS: usize = 8;

/// Returns the number of bytes at the low end that are touched though no frame has reached them.
pub(super) fn touched_without_frames() -> usize {
    os::page_size()
}

impl Stack {
    /// Writes the pattern. For a stack on which nothing runs yet.
    pub(crate) fn plant_canary(&self) {
        for at in 0..WORDS {
            // SAFETY: SK1: the lowest words of the slot; no frame has reached them.
            unsafe { self.canary(at).write_volatile(word(at)) };
        }
    }

    /// Returns whether the pattern is as it was written.
    pub(crate) fn canary_is_intact(&self) -> bool {
        // SAFETY: SK1: mapped for as long as the handle lives.
        (0..WORDS).all(|at| unsafe { self.canary(at).read_volatile() } == word(at))
    }

    fn canary(&self, at: usize) -> *mut u64 {
        let size = self.range().len();
        // SAFETY: SK1: from the end of the usable memory down to its start.
        let lowest = unsafe { self.base().as_ptr().sub(size) };
        lowest.cast::<u64>().wrapping_add(at)
    }
}

fn word(at: usize) -> u64 {
    PATTERN.rotate_left(at as u32)
}
