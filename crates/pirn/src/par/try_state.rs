//! Work that may fail, and then ends early.
//!
//! Owns: [`Until`], and how the results of several attempts are combined. A failure ends
//! the run's [`Cuts`], which does not stop a worker within a piece.

use super::divide::Cuts;
use super::{Scope, scope};
use crate::Interrupt;
use crate::cancel;
use crate::shim::atomic::{AtomicBool, Ordering};

/// State of the attempts at the items of one run.
pub(super) struct Until<'a> {
    cuts: &'a Cuts,
    /// Set by a worker that finds an interrupt, read at the end.
    interrupted: AtomicBool,
}

/// The result of a part of the work: `Err(None)` if it was skipped, because another part
/// had failed.
pub(super) type Tried<R, E> = Result<R, Option<E>>;

impl Until<'_> {
    pub(super) fn of(cuts: &Cuts) -> Until<'_> {
        Until {
            cuts,
            interrupted: AtomicBool::new(false),
        }
    }

    /// Runs `part`, if nothing has failed yet and the caller is not interrupted; returns
    /// its result.
    pub(super) fn attempt<R, E: From<Interrupt>>(
        &self,
        part: impl FnOnce() -> Result<R, E>,
    ) -> Tried<R, E> {
        if self.cuts.is_over() {
            return Err(None);
        }
        let checked = cancel::check().map_err(|interrupt| {
            // ORDERING: Relaxed: the joins make it visible to the reader.
            self.interrupted.store(true, Ordering::Relaxed);
            E::from(interrupt)
        });
        checked.and_then(|()| part()).map_err(|error| {
            self.cuts.end();
            Some(error)
        })
    }

    /// [`scope()`] for attempts. They run under the caller's token and deadline, also
    /// where a fiber runs them for a plain thread.
    #[track_caller]
    pub(super) fn scope<R: Send>(&self, f: impl FnOnce(&mut Scope<'_>) -> R + Send) -> R {
        let result = scope(f);
        // ORDERING: as in `attempt`.
        if self.interrupted.load(Ordering::Relaxed) {
            // The interrupt has been reported to another fiber; a `timeout` around the
            // caller's code must see it too.
            let _ = cancel::check();
        }
        result
    }
}

/// Combines the results of two parts, of which `left` comes first: both by `both`, or the
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

/// Converts the result of all parts together.
pub(super) fn into_result<R, E>(tried: Tried<R, E>) -> Result<R, E> {
    tried.map_err(|error| error.expect("parts are left out where one has failed"))
}
