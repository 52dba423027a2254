//! Work that may fail, and then ends early.
//!
//! Owns: [`Until`], and what becomes of several attempts. A failure ends the run's
//! [`Cuts`], which stops nobody amid a piece.

use super::spread::Cuts;
use super::{Scope, scope};
use crate::Interrupt;
use crate::cancel::{self, Token};
use crate::fiber::current;
use crate::sched::beat::{Place, place};
use crate::shim::atomic::{AtomicBool, Ordering};

/// Attempts at the items of one run.
pub(super) struct Until<'a> {
    cuts: &'a Cuts,
    /// Set by who meets an interrupt, read in the end.
    interrupted: AtomicBool,
}

/// What came of a part of the work: `Err(None)` if it was left out, since another part
/// had failed.
pub(super) type Tried<R, E> = Result<R, Option<E>>;

impl Until<'_> {
    pub(super) fn of(cuts: &Cuts) -> Until<'_> {
        Until {
            cuts,
            interrupted: AtomicBool::new(false),
        }
    }

    /// What `part` comes to, if nothing has failed yet and the caller is not interrupted.
    pub(super) fn attempt<R, E: From<Interrupt>>(
        &self,
        part: impl FnOnce() -> Result<R, E>,
    ) -> Tried<R, E> {
        if self.cuts.is_over() {
            return Err(None);
        }
        let checked = cancel::check().map_err(|interrupt| {
            // ORDERING: Relaxed: the joins bring it to who asks.
            self.interrupted.store(true, Ordering::Relaxed);
            E::from(interrupt)
        });
        checked.and_then(|()| part()).map_err(|error| {
            self.cuts.end();
            Some(error)
        })
    }

    /// [`scope()`] for attempts, which are under what the caller is under also where a
    /// plain thread has a fiber do them.
    #[track_caller]
    pub(super) fn scope<R: Send>(&self, f: impl FnOnce(&mut Scope<'_>) -> R + Send) -> R {
        let result = match place(current::local()) {
            Place::Outside => {
                let (token, deadline) = (Token::current(), cancel::deadline());
                scope(|scope| {
                    token.enter(|| match deadline {
                        Some(at) => cancel::with_deadline(at, || f(scope)),
                        None => f(scope),
                    })
                })
            }
            Place::Fiber(_) | Place::Alone => scope(f),
        };
        // ORDERING: as in `attempt`.
        if self.interrupted.load(Ordering::Relaxed) {
            // It has been reported to a fiber; a `timeout` around the caller's code is to
            // know.
            let _ = cancel::check();
        }
        result
    }
}

/// What came of two parts, of which `left` comes first: both, put together by `both`, or
/// the first error.
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
