//! A closure that runs once, in the first caller.
//!
//! Owns: the completion flag, the running caller, and the waiters. Does not own: a result
//! (`once_lock`).
//!
//! # Invariants
//! * ON1. `running` is set iff one caller runs its closure. Only that caller sets `done`, and after
//!   `done` no closure runs.
//! * ON2. A caller with a closure that panics, or fails, hands the attempt to the caller that has
//!   waited longest (`running` stays set then), or gives it up.
//! * ON3. No party joins a queue once `done` is set.
//!
//! LIVENESS: all parties wait for the running caller, which ends. If its closure returns, it wakes
//! all. If the closure panics, the next caller runs. If no caller waits then, `running` is cleared
//! for the next to come.

use std::fmt;

use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::wait::object::{Describe, Nameable, ObjectKind};
use crate::wait::point;
use crate::wait::{Attempt, Reason, Spec, Waited, wait_in, wake_all};

/// A primitive that runs one closure once, regardless of how many callers there are. The others
/// wait until it has completed.
///
/// There is no poisoning. A closure that panics does not count as completed: the caller that has
/// waited longest, or the next to come, runs its own. A check for completion takes one load.
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
#[doc(alias = "sync.Once")]
pub struct Once {
    /// Written under the lock of `attempts`; read without it.
    done: AtomicBool,
    attempts: Lock<Attempts>,
}

struct Attempts {
    running: bool,
    /// The last closure that ran has panicked.
    panicked: bool,
    /// Waiters with a closure of their own; true for the one that must run it now.
    callers: WaitQueue<bool>,
    /// Waiters without a closure.
    watchers: WaitQueue<bool>,
}

/// The obligation of the running caller. If a panic drops it, it passes the attempt on.
struct Running<'a> {
    once: &'a Once,
    done: bool,
    panicked: bool,
}

/// The state that a closure of [`Once::call_once_force`] receives.
///
/// # Examples
/// ```
/// use std::panic::catch_unwind;
/// use pirn::sync::Once;
///
/// static STARTED: Once = Once::new();
/// assert!(catch_unwind(|| STARTED.call_once(|| panic!("no disk"))).is_err());
/// STARTED.call_once_force(|state| assert!(state.is_poisoned()));
/// ```
#[derive(Debug)]
pub struct OnceState {
    panicked: bool,
}

impl OnceState {
    /// Returns true if the closure that ran before has panicked.
    ///
    /// # Examples
    /// ```
    /// let once = pirn::sync::Once::new();
    /// once.call_once_force(|state| assert!(!state.is_poisoned()));
    /// ```
    pub fn is_poisoned(&self) -> bool {
        self.panicked
    }
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
    /// Returns a `Once` that has not been completed.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Once;
    ///
    /// static STARTED: Once = Once::new();
    /// assert!(!STARTED.is_completed());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Once {
            done: AtomicBool::new(false),
            attempts: Lock::new(Attempts {
                running: false,
                panicked: false,
                callers: WaitQueue::new(),
                watchers: WaitQueue::new(),
            }),
        }
    }

    /// Runs `f` unless a closure has completed, and waits for a closure that is running. After it
    /// returns, the closure has completed, and the caller sees all its effects.
    ///
    /// # Panics
    /// If `f` runs and panics, with its panic. The panic of another caller's closure is not
    /// propagated: `f` runs then.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if `f` calls this again.
    ///
    /// # Examples
    /// ```
    /// let (once, mut calls) = (pirn::sync::Once::new(), 0);
    /// once.call_once(|| calls += 1);
    /// once.call_once(|| calls += 1);
    /// assert_eq!(calls, 1);
    /// ```
    #[doc(alias = "Do")]
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            self.call(|_| {
                f();
                true
            });
        }
    }

    /// Runs `f` as [`call_once`](Once::call_once) does, and tells it whether the closure that ran
    /// before has panicked. There is no poisoning, so this differs in nothing else.
    ///
    /// # Panics
    /// As [`call_once`](Once::call_once).
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if `f` calls this again.
    ///
    /// # Examples
    /// ```
    /// let once = pirn::sync::Once::new();
    /// once.call_once_force(|state| assert!(!state.is_poisoned()));
    /// assert!(once.is_completed());
    /// ```
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if !self.is_completed() {
            self.call(|state| {
                f(state);
                true
            });
        }
    }

    /// Runs `f` as [`call_once`](Once::call_once) does, and is complete if it returns true. If it
    /// returns false, the caller that has waited longest runs its own.
    #[inline]
    #[track_caller]
    pub(super) fn try_call_once<F: FnOnce() -> bool>(&self, f: F) {
        if !self.is_completed() {
            self.call(|_| f());
        }
    }

    /// Returns true if the closure has completed; the caller then sees all its effects.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let once = pirn::sync::Once::new();
    /// assert!(!once.is_completed());
    /// once.call_once(|| {});
    /// assert!(once.is_completed());
    /// ```
    #[inline]
    pub fn is_completed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release store in `Running::drop`.
        self.done.load(Ordering::Acquire)
    }

    /// Blocks until another caller's closure has completed. Runs no closure itself.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let once = pirn::sync::Once::new();
    /// pirn::scope(|s| {
    ///     let waiter = s.spawn(|| once.wait());
    ///     once.call_once(|| {});
    ///     assert!(waiter.join().is_ok());
    /// });
    /// ```
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
    fn call<F: FnOnce(&OnceState) -> bool>(&self, f: F) {
        point(Operation::Set, self.known_at());
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
            let panicked = self.attempts.lock().panicked;
            let mut running = Running {
                once: self,
                done: false,
                panicked: true,
            };
            // UNWIND: no lock is held; `running` passes the attempt on.
            running.done = f(&OnceState { panicked });
            running.panicked = false;
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let once = self.once;
        let mut attempts = once.attempts.lock();
        attempts.panicked = self.panicked;
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
        let next = if mutant!("once_panic_wakes_none") {
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
