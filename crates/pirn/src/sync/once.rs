//! Something that is done once, by whoever comes first.
//!
//! Owns: whether it is done, who does it, and who waits for that. Does not own: what comes of
//! it (`once_lock`).
//!
//! # Invariants
//! * ON1. `running` is set iff one caller runs its closure; only that one sets `done`, and
//!   after `done` nobody runs anything.
//! * ON2. A caller whose closure panics hands the attempt to the caller that has waited
//!   longest (`running` stays set then), or gives it up.
//! * ON3. Nobody joins a queue once `done` is set.
//!
//! LIVENESS: everybody waits for the one that runs. That one ends: well, and wakes all; or
//! badly, and the next caller runs; or badly with no caller waiting, and `running` is unset
//! for the next that comes.

use std::fmt;

use crate::base::mutant::mutant;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::wait::object::{Describe, Nameable, ObjectKind};
use crate::wait::{Attempt, Reason, Spec, Waited, wait_in, wake_all};

/// Runs a closure once, whoever calls, however often; callers wait until it has been done.
///
/// There is no poisoning: if the closure panics, it counts as not done, and the caller that
/// has waited longest, or the next to come, runs its own. To see that it is done takes one
/// load.
///
/// # Examples
/// ```
/// use pirn::sync::Once;
///
/// static GREETED: Once = Once::new();
/// pirn::scope(|s| {
///     for _ in 0..3 {
///         s.spawn(|| GREETED.call_once(|| println!("hello")));
///     }
/// });
/// assert!(GREETED.is_completed());
/// ```
pub struct Once {
    /// Written under the lock of `attempts`; read by everybody.
    done: AtomicBool,
    attempts: Lock<Attempts>,
}

struct Attempts {
    running: bool,
    /// Those with a closure of their own; true for the one that is to run it now.
    callers: WaitQueue<bool>,
    /// Those who only wait.
    watchers: WaitQueue<bool>,
}

/// The duty of the one that runs; dropped by a panic, it passes the attempt on.
struct Running<'a> {
    once: &'a Once,
    done: bool,
}

impl Nameable for Once {
    fn known_at(&self) -> usize {
        (&raw const self.attempts).addr()
    }
}

impl Describe for Attempts {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Once {
            waiting: self.callers.count() + self.watchers.count(),
        }
    }
}

impl Once {
    /// Returns one that has not been done.
    #[must_use]
    pub const fn new() -> Self {
        Once {
            done: AtomicBool::new(false),
            attempts: Lock::new(Attempts {
                running: false,
                callers: WaitQueue::new(),
                watchers: WaitQueue::new(),
            }),
        }
    }

    /// Runs `f` if nobody has; waits for whoever is at it. When this returns, it has been
    /// done, and the caller sees everything that was done.
    ///
    /// # Panics
    /// If `f` runs and panics: with its panic. Somebody else's panic is not seen: then `f`
    /// runs.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// For ever, if `f` calls this again.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            self.call(f);
        }
    }

    /// Returns true if it has been done; the caller sees everything that was done then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[inline]
    pub fn is_completed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `Running::drop`.
        self.done.load(Ordering::Acquire)
    }

    /// Waits until it has been done, by somebody else.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn wait(&self) {
        if self.is_completed() {
            return;
        }
        let arrived = |_: &mut Attempts| {
            if self.is_completed() {
                Attempt::Done(())
            } else {
                Attempt::Wait(false)
            }
        };
        let spec = Spec::of(Reason::Once);
        let _ = wait_in(&self.attempts, |all| &mut all.watchers, &spec, arrived);
    }

    #[cold]
    #[track_caller]
    fn call<F: FnOnce()>(&self, f: F) {
        let arrived = |attempts: &mut Attempts| {
            if self.is_completed() && !mutant!("once_looks_too_early") {
                return Attempt::Done(false);
            }
            if attempts.running {
                return Attempt::Wait(false);
            }
            attempts.running = true;
            Attempt::Done(true)
        };
        let spec = Spec::of(Reason::Once);
        let waited = wait_in(&self.attempts, |all| &mut all.callers, &spec, arrived);
        let (Waited::Done(ours) | Waited::Ended(_, ours)) = waited;
        if ours {
            let mut running = Running {
                once: self,
                done: false,
            };
            // UNWIND: no lock is held; `running` passes the attempt on.
            f();
            running.done = true;
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let once = self.once;
        let mut attempts = once.attempts.lock();
        if self.done {
            // ORDERING: Release pairs with the Acquire load in `Once::is_completed`.
            once.done.store(true, Ordering::Release);
            attempts.running = false;
            drop(attempts);
            wake_all(&once.attempts, |all| {
                let caller = all.callers.claim_first(|_| ());
                caller.or_else(|| all.watchers.claim_first(|_| ()))
            });
            return;
        }
        let next = if mutant!("once_panic_tells_nobody") {
            None
        } else {
            attempts.callers.claim_first(|ours| *ours = true)
        };
        attempts.running = next.is_some();
        drop(attempts);
        if let Some(next) = next {
            next.enqueue();
        }
    }
}

impl Default for Once {
    fn default() -> Self {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once")
            .field("completed", &self.is_completed())
            .finish_non_exhaustive()
    }
}
