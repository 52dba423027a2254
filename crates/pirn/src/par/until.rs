//! Work that ends early: all who take part look at one flag.
//!
//! Owns: [`Until`], and what becomes of several attempts. The flag stops nobody amid a piece;
//! pieces are as short as beats are.

use crate::Interrupt;
use crate::cancel;
use crate::shim::atomic::{AtomicBool, Ordering};

/// Whether what was looked for has been found: a failure, or an item. Set by who finds it, read
/// by all before each piece.
pub(super) struct Until(AtomicBool);

/// What came of a part of the work: `Err(None)` if it was left out, since another part had
/// failed.
pub(super) type Tried<R, E> = Result<R, Option<E>>;

impl Until {
    pub(super) fn new() -> Until {
        Until(AtomicBool::new(false))
    }

    /// True once [`end`](Self::end) has been called.
    pub(super) fn is_over(&self) -> bool {
        // ORDERING: Relaxed: results go by the joins; this only saves work.
        self.0.load(Ordering::Relaxed)
    }

    /// From now on nothing need be done.
    pub(super) fn end(&self) {
        // ORDERING: as in `is_over`.
        self.0.store(true, Ordering::Relaxed);
    }

    /// What `part` comes to, if nothing has failed yet and the caller is not interrupted.
    pub(super) fn attempt<R, E: From<Interrupt>>(
        &self,
        part: impl FnOnce() -> Result<R, E>,
    ) -> Tried<R, E> {
        if self.is_over() {
            return Err(None);
        }
        let result = cancel::check().map_err(E::from).and_then(|()| part());
        result.map_err(|error| {
            self.end();
            Some(error)
        })
    }
}

/// What came of two parts, of which `left` comes first: both, put together by `both`, or the
/// first error.
pub(super) fn in_order<R, E>(
    left: Tried<R, E>,
    right: Tried<R, E>,
    both: impl FnOnce(R, R) -> R,
) -> Tried<R, E> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok(both(left, right)),
        (Err(Some(error)), _) | (_, Err(Some(error))) => Err(Some(error)),
        (Err(None), _) | (_, Err(None)) => Err(None),
    }
}

/// What came of all parts together.
pub(super) fn told<R, E>(tried: Tried<R, E>) -> Result<R, E> {
    tried.map_err(|error| error.expect("parts are left out where one has failed"))
}
