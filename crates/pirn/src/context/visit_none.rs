//! No visits: with this backend the position of a context is not known.

use std::ops::Range;

use super::switch::Context;

/// Does nothing and returns false.
///
/// # Safety
/// None here; the other implementation runs on the context's stack.
pub(crate) unsafe fn visit(
    _context: &Context,
    _stack: Range<usize>,
    _f: &mut dyn FnMut(),
) -> bool {
    false
}

/// A sample of a running thread.
#[derive(Debug)]
#[expect(dead_code, reason = "the twin reads it")]
pub(crate) struct Stand<'a> {
    pub(crate) ip: usize,
    pub(crate) sp: usize,
    pub(crate) fp: usize,
    pub(crate) bx: usize,
    pub(crate) end: usize,
    pub(crate) words: &'a [usize],
}

/// Does nothing and returns false.
pub(crate) fn visit_copy(_stand: &Stand<'_>, _f: &mut dyn FnMut()) -> bool {
    false
}
