//! No visits: the backend does not say where a context stands, or a sanitizer would have to be
//! told.

use std::ops::Range;

use super::switch::Context;

/// Does nothing and returns false.
///
/// # Safety
/// None here; the twin runs on the context's stack.
pub(crate) unsafe fn visit(
    _context: &Context,
    _stack: Range<usize>,
    _f: &mut dyn FnMut(),
) -> bool {
    false
}
