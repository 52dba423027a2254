//! No sanitizer: no notices.

use std::ops::Range;

use crate::context::frame::Entry;
use crate::context::stacks::Stack;

/// What the caller has done comes before what the fiber with this header does once it resumes.
#[inline(always)]
pub(crate) fn hand_on(_header: *const ()) {}

/// Called by the fiber with this header when it resumes.
#[inline(always)]
pub(crate) fn take_over(_header: *const ()) {}

/// A fiber that has ended may leave its stack to the next one.
pub(crate) const INHERITS: bool = true;

/// A sanitizer's data of a context: none.
#[derive(Debug)]
pub(in crate::context) struct Side;

impl Side {
    pub(in crate::context) const fn new() -> Side {
        Side
    }
}

/// Prepares the side data of a context that will start `entry` on `stack`; returns the function to
/// start in its place.
#[inline(always)]
pub(in crate::context) fn prepare(
    _side: &mut Side,
    _stack: &Stack,
    entry: Entry,
    arg: *mut (),
) -> (Entry, *mut ()) {
    (entry, arg)
}

/// Called before a switch from `_from` to `_to`.
///
/// # Safety
/// None here; the other implementations access both contexts.
#[inline(always)]
pub(in crate::context) unsafe fn leave(_from: *mut Side, _to: *mut Side) {}

/// Called before the last switch away from `_from`.
///
/// # Safety
/// None here; the other implementations access both contexts.
#[inline(always)]
pub(in crate::context) unsafe fn leave_for_good(_from: *mut Side, _to: *mut Side) {}

/// Called when a switch has come back to `_here`.
///
/// # Safety
/// None here; the other implementations access the context.
#[inline(always)]
pub(in crate::context) unsafe fn arrive(_here: *mut Side) {}

/// Prepares the side data of a context that visits the frames on `_stack`.
#[allow(dead_code, reason = "the corosensei backend has no visits")]
#[inline(always)]
pub(in crate::context) fn prepare_visit(_side: &mut Side, _stack: &Range<usize>) {}

/// Called when a visitor has left the free part `_stack` of a stack.
#[allow(dead_code, reason = "the corosensei backend has no visits")]
#[inline(always)]
pub(in crate::context) fn visit_ended(_stack: Range<usize>) {}

/// A call on another stack.
#[allow(dead_code, reason = "the corosensei backend has no such calls")]
pub(in crate::context) struct Detour;

#[allow(dead_code, reason = "the corosensei backend has no such calls")]
impl Detour {
    /// Called before the call; dropped after it.
    #[inline(always)]
    pub(in crate::context) fn begin(_stack: &Stack) -> Detour {
        Detour
    }

    /// Called in the first frame there; the result is dropped in that frame.
    ///
    /// # Safety
    /// None here; another implementation completes the change of stacks.
    #[inline(always)]
    pub(in crate::context) unsafe fn arrive(&self) -> There {
        There
    }
}

/// The part of a [`Detour`] on the other stack.
#[allow(dead_code, reason = "the corosensei backend has no such calls")]
pub(in crate::context) struct There;

/// Called when a stack leaves the pool or a cache.
#[inline(always)]
pub(in crate::context) fn taken(_stack: &Stack) {}

/// Called when a stack comes back.
#[inline(always)]
pub(in crate::context) fn given_back(_stack: &Stack) {}

/// Assembly to be run on the old stack right before the switch.
#[allow(
    unused_macros,
    reason = "the corosensei backend has no assembly of ours"
)]
macro_rules! hook {
    () => {
        ""
    };
}
#[allow(
    unused_imports,
    reason = "the corosensei backend has no assembly of ours"
)]
pub(in crate::context) use hook;
