//! The condition variable: releases a mutex and waits for a notification.
//!
//! Owns: the waiters, and the check that all of them have the same mutex. Does not own: the mutex
//! or the condition.
//!
//! A waiter reads `missed`, releases the mutex, and joins the queue unless `missed` has changed. A
//! notifier that finds the queue empty changes `missed`.
//!
//! LIVENESS: no notification is lost. The waiter reads `missed` while it holds the mutex. A
//! notifier that should wake it changes the condition under the mutex after that, and notifies
//! later still. If the notifier takes the queue's lock after the waiter has joined, it finds the
//! waiter in the queue. If it takes the lock before, it changes `missed`, and the waiter, which
//! checks under the same lock, does not wait. (Or it wakes a party that has waited longer, which is
//! what one notification is for.)
//!
//! Rejected: releasing the mutex while the queue's lock is held. It would save a check of `missed`,
//! but nest two locks and enqueue a fiber under one of them.

use std::fmt;
use std::time::{Duration, Instant};

use super::mutex::MutexGuard;
use crate::base::choice::Operation;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::wait::object::Nameable;
use crate::wait::{
    Attempt, How, Interrupt, Reason, Spec, Waited, consume_budget, deadline_in,
    interrupted, point, wait_in, wake_all,
};

/// A condition variable; waiting parks a fiber and blocks a plain thread.
///
/// As with `std`, a wait may end spuriously, so conditions are checked in a loop:
/// [`wait_while`](Condvar::wait_while) is that loop.
///
/// Waits at the same time use the same mutex. A wait with another one panics, because a
/// notification could get lost between the two.
///
/// # Examples
/// ```
/// use pirn::sync::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// pirn::scope(|s| {
///     s.spawn(|| {
///         *ready.lock() = true;
///         changed.notify_one();
///     });
///     let ready = changed.wait_while(ready.lock(), |ready| !*ready);
///     assert!(*ready);
/// });
/// ```
#[doc(alias = "sync.Cond")]
pub struct Condvar {
    /// Waiters, each with the value of `missed` that it has read.
    queue: Lock<WaitQueue<u64>>,
    /// Counts notifications that found no waiter, and every `notify_all`. Written under the lock of
    /// `queue`.
    missed: AtomicU64,
    /// The address of the mutex of the waiters in the queue, if there are any. Written under the
    /// lock of `queue`.
    mutex: AtomicUsize,
}

/// The result of a wait with a time limit: whether it ended because the time was up.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::sync::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// let limit = Duration::from_millis(1);
/// let waited = changed.wait_timeout_while(ready.lock(), limit, |ready| !*ready);
/// assert!(waited.1.timed_out());
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns true if the time was up before a notification came.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(true), Condvar::new());
    /// let limit = Duration::from_millis(1);
    /// let waited = changed.wait_timeout_while(ready.lock(), limit, |ready| !*ready);
    /// assert!(!waited.1.timed_out());
    /// ```
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Returns a condition variable without waiters.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Condvar;
    ///
    /// static CHANGED: Condvar = Condvar::new();
    /// // Nothing waits for it.
    /// CHANGED.notify_all();
    /// ```
    pub const fn new() -> Self {
        Condvar {
            queue: Lock::new(WaitQueue::new()),
            missed: AtomicU64::new(0),
            mutex: AtomicUsize::new(0),
        }
    }

    /// Releases the mutex, waits for a notification, and locks the mutex again.
    ///
    /// It may return without a notification, so check the condition in a loop. A notification
    /// without a waiter is lost.
    ///
    /// # Panics
    /// If there are waiters with another mutex; the mutex is released then. So do all functions
    /// that wait.
    ///
    /// # Cancellation
    /// Not an interruption point; see [`wait_interruptible`](Condvar::wait_interruptible).
    /// Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// pirn::scope(|s| {
    ///     s.spawn(|| {
    ///         *ready.lock() = true;
    ///         changed.notify_one();
    ///     });
    ///     let mut guard = ready.lock();
    ///     while !*guard {
    ///         guard = changed.wait(guard);
    ///     }
    /// });
    /// assert!(ready.into_inner());
    /// ```
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.wait_as(guard, &Spec::of(Reason::Condvar)).0
    }

    /// Blocks while `condition` returns true for the value.
    ///
    /// # Panics
    /// With the panic of `condition`; the mutex is released then.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (items, filled) = (Mutex::new(Vec::new()), Condvar::new());
    /// pirn::scope(|s| {
    ///     s.spawn(|| {
    ///         items.lock().push("job");
    ///         filled.notify_one();
    ///     });
    ///     let mut items = filled.wait_while(items.lock(), |items| items.is_empty());
    ///     assert_eq!(items.pop(), Some("job"));
    /// });
    /// ```
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let mut guard = guard;
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// Releases the mutex, waits for a notification for at most `timeout`, and locks the mutex
    /// again. The time to lock the mutex again is not included.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (count, changed) = (Mutex::new(0), Condvar::new());
    /// let limit = Duration::from_millis(1);
    /// let (count, result) = changed.wait_timeout(count.lock(), limit);
    /// // No notification has been sent.
    /// assert!(result.timed_out() && *count == 0);
    /// ```
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        self.wait_until(guard, deadline_in(timeout))
    }

    /// Blocks while `condition` returns true for the value, for at most `timeout`. The result
    /// reports a timeout only if `condition` still holds.
    ///
    /// # Panics
    /// With the panic of `condition`; the mutex is released then.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// let limit = Duration::from_millis(1);
    /// let waited = changed.wait_timeout_while(ready.lock(), limit, |ready| !*ready);
    /// let (ready, result) = waited;
    /// assert!(result.timed_out() && !*ready);
    /// ```
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        let deadline = deadline_in(timeout);
        let mut guard = guard;
        let mut ended = WaitTimeoutResult(false);
        while condition(&mut guard) {
            if ended.timed_out() {
                return (guard, ended);
            }
            (guard, ended) = self.wait_until(guard, deadline);
        }
        (guard, WaitTimeoutResult(false))
    }

    /// Releases the mutex, waits for a notification or an interrupt, and locks the mutex again.
    ///
    /// # Errors
    /// The interrupt of the caller; the mutex is locked again.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread. Locking the mutex again after
    /// an interrupt is not interruptible.
    ///
    /// # Examples
    /// ```
    /// use pirn::{Interrupt, cancel::Token};
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (mutex, changed) = (Mutex::new(0), Condvar::new());
    /// let token = Token::new();
    /// token.cancel();
    /// let waited = token.enter(|| changed.wait_interruptible(mutex.lock()));
    /// let (guard, interrupt) = waited.unwrap_err();
    /// assert_eq!((*guard, interrupt), (0, Interrupt::Cancelled));
    /// ```
    #[track_caller]
    pub fn wait_interruptible<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, (MutexGuard<'a, T>, Interrupt)> {
        if let Some(interrupt) = interrupted() {
            consume_budget(Operation::Wait, self.known_at());
            return Err((guard, interrupt));
        }
        match self.wait_as(guard, &Spec::interruptible(Reason::Condvar)) {
            (guard, Some(How::Interrupted(interrupt))) => Err((guard, interrupt)),
            (guard, _) => Ok(guard),
        }
    }

    /// Wakes the waiter that has waited longest, if there is one; returns true if so.
    ///
    /// A party that has released the mutex, and does not wait yet, ends its wait too. It is not
    /// counted: the result may be false then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// pirn::scope(|s| {
    ///     let waiter = s.spawn(|| *changed.wait_while(ready.lock(), |ready| !*ready));
    ///     *ready.lock() = true;
    ///     changed.notify_one();
    ///     assert!(waiter.join().unwrap());
    /// });
    /// // No waiter is left.
    /// assert!(!changed.notify_one());
    /// ```
    #[doc(alias = "Signal")]
    pub fn notify_one(&self) -> bool {
        point(Operation::Notify, self.known_at());
        let mut queue = self.queue.lock();
        let wake = queue.claim_first(|_| ());
        if wake.is_none() {
            self.miss();
        }
        drop(queue);
        let woken = wake.is_some();
        if let Some(wake) = wake {
            wake.enqueue();
        }
        woken
    }

    /// Wakes all present waiters; returns their number, without those that have released the mutex
    /// and do not wait yet, which end their waits too.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Condvar, Mutex};
    ///
    /// let (open, changed) = (Mutex::new(false), Condvar::new());
    /// pirn::scope(|s| {
    ///     for _ in 0..3 {
    ///         s.spawn(|| drop(changed.wait_while(open.lock(), |open| !*open)));
    ///     }
    ///     *open.lock() = true;
    ///     changed.notify_all();
    /// });
    /// assert!(open.into_inner());
    /// assert_eq!(changed.notify_all(), 0);
    /// ```
    #[doc(alias = "Broadcast")]
    pub fn notify_all(&self) -> usize {
        point(Operation::Notify, self.known_at());
        let queue = self.queue.lock();
        let limit = self.miss();
        drop(queue);
        // A waiter that joins after this call has read `limit`, so the loop ends.
        let mut woken = 0;
        wake_all(&self.queue, |queue| {
            queue.claim_first_if(|seen| *seen < limit, |_| woken += 1)
        });
        woken
    }

    #[track_caller]
    fn wait_until<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<Instant>,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        let (guard, how) =
            self.wait_as(guard, &Spec::of(Reason::Condvar).until(deadline));
        (guard, WaitTimeoutResult(how == Some(How::TimedOut)))
    }

    /// Waits and returns how the wait ended; `None` if a notification came before the wait.
    #[track_caller]
    fn wait_as<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        spec: &Spec,
    ) -> (MutexGuard<'a, T>, Option<How>) {
        point(Operation::Wait, self.known_at());
        // ORDERING: Relaxed: the mutex orders this read before every notification that must wake
        // this waiter.
        let seen = self.missed.load(Ordering::Relaxed);
        let address = MutexGuard::mutex(&guard);
        let mutex = MutexGuard::release(guard);
        let arrived = |queue: &mut WaitQueue<u64>| {
            if !self.admits(queue, address) {
                Attempt::Done(false)
            // ORDERING: Relaxed: written under the lock that is held here.
            } else if self.missed.load(Ordering::Relaxed) == seen {
                Attempt::Wait(seen)
            } else {
                Attempt::Done(true)
            }
        };
        let waited = wait_in(&self.queue, |queue| queue, spec, arrived);
        let guard = mutex.lock();
        match waited {
            Waited::Done(true) => (guard, None),
            Waited::Done(false) => panic!(
                "this `Condvar` has waiters with another `Mutex`: use one `Condvar` for each `Mutex`"
            ),
            Waited::Ended(how, _) => (guard, Some(how)),
        }
    }

    /// Returns true if the mutex at `address` is that of all waiters in `queue`, the lock of which
    /// is held.
    fn admits(&self, queue: &WaitQueue<u64>, address: usize) -> bool {
        // ORDERING: Relaxed: only holders of the lock read and write.
        if queue.is_empty() {
            self.mutex.store(address, Ordering::Relaxed);
            true
        } else {
            self.mutex.load(Ordering::Relaxed) == address
        }
    }

    /// Counts a notification that waiters on their way to the queue must see. Returns the new
    /// count. The caller holds the lock of `queue`.
    fn miss(&self) -> u64 {
        // ORDERING: Relaxed: see `wait_as`; only holders of the lock write.
        let count = self.missed.load(Ordering::Relaxed) + 1;
        self.missed.store(count, Ordering::Relaxed);
        count
    }
}

impl Nameable for Condvar {
    fn known_at(&self) -> usize {
        (&raw const self.queue).addr()
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
