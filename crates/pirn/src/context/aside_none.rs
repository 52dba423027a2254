//! No other stack to run on: the caller's own has to do.

use super::stack::Stack;

/// There is no other stack to run on.
pub(crate) const ASIDE: bool = false;

/// Calls `f` where it is.
#[inline(always)]
pub(crate) fn aside<T, F: FnOnce() -> T>(_stack: &mut Stack, f: F) -> T {
    f()
}
