//! The spans of the crate `tracing` that a fiber is in, as a list that its header points to.

use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;

use tracing::Span;

/// The spans that a fiber is in; one in each header. Owner.
pub(crate) struct Spans(pub(super) Cell<Option<NonNull<Entered>>>);

/// One span, in the frame of the code that is in it (SN1).
pub(super) struct Entered {
    pub(super) span: Span,
    pub(super) below: Option<NonNull<Entered>>,
}

impl Spans {
    pub(in crate::fiber) fn new() -> Spans {
        Spans(Cell::new(None))
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans").finish_non_exhaustive()
    }
}
