//! The mutex: a value that one fiber or thread at a time can access.
//!
//! Owns: when it is locked. Does not own: the value and its guard (`guarded`), nor the order of
//! turns (`turns`).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::guarded::{self, Exclusive, Guarded};
use super::mapped::MappedMutexGuard;
use super::shared_turns::Kind;
use super::turns::Turns;
use crate::base::choice::Operation;
use crate::fiber::current;
use crate::wait::object::Nameable;
use crate::wait::yielding::consume_budget_here;
use crate::wait::{How, Interrupt, Reason, Spec, deadline_in, interrupted, point};

/// A mutual exclusion lock; waiting for it parks a fiber and blocks a plain thread.
///
/// There is no poisoning: if a holder panics, the lock is released and the next holder finds the
/// value as the panic left it.
///
/// Waiters are served in order of arrival, but a newcomer that finds the lock free takes it before
/// a woken waiter that has not run yet. A waiter that has lost to newcomers for half a millisecond
/// is handed the lock directly.
///
/// # Examples
/// ```
/// use pirn::sync::Mutex;
///
/// let total = Mutex::new(0);
/// pirn::scope(|s| {
///     for i in 1..=4 {
///         let total = &total;
///         s.spawn(move || *total.lock() += i);
///     }
/// });
/// assert_eq!(total.into_inner(), 10);
/// ```
#[doc(alias = "sync.Mutex")]
pub struct Mutex<T: ?Sized> {
    guarded: Guarded<Turns, T>,
}

/// Access to the value of a locked [`Mutex`]; dropping it releases the lock.
///
/// Releasing never suspends. The guard stays on the fiber that locked the mutex: it is not `Send`.
///
/// # Examples
/// ```
/// use pirn::sync::{Mutex, MutexGuard};
///
/// fn push_twice(mut items: MutexGuard<'_, Vec<u32>>, item: u32) {
///     items.push(item);
///     items.push(item);
/// }
///
/// let items = Mutex::new(vec![1]);
/// push_twice(items.lock(), 2);
/// assert_eq!(*items.lock(), [1, 2, 2]);
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    turn: Exclusive<'a, Turns, T>,
}

/// A mutex after the release of its guard.
pub(super) struct Released<'a, T: ?Sized>(guarded::Released<'a, Turns, T>);

impl<T> Mutex<T> {
    /// Returns an unlocked mutex.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Mutex;
    ///
    /// static LOG: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    /// LOG.lock().push(7);
    /// assert_eq!(*LOG.lock(), [7]);
    /// ```
    pub const fn new(value: T) -> Self {
        Mutex {
            guarded: Guarded::new(Turns::new(), value),
        }
    }

    /// Consumes the mutex and returns the value.
    ///
    /// # Examples
    /// ```
    /// let mutex = pirn::sync::Mutex::new(String::from("a"));
    /// mutex.lock().push('b');
    /// assert_eq!(mutex.into_inner(), "ab");
    /// ```
    pub fn into_inner(self) -> T {
        self.guarded.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock, waiting until it becomes free.
    ///
    /// A fiber that locks a mutex that it already holds deadlocks: it waits indefinitely.
    ///
    /// # Cancellation
    /// Not an interruption point; see [`lock_interruptible`](Mutex::lock_interruptible).
    /// Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let count = pirn::sync::Mutex::new(0);
    /// pirn::scope(|s| {
    ///     for _ in 0..4 {
    ///         s.spawn(|| {
    ///             let mut count = count.lock();
    ///             pirn::yield_now(); // The lock stays held.
    ///             *count += 1;
    ///         });
    ///     }
    /// });
    /// assert_eq!(*count.lock(), 4);
    /// ```
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let local = consume_budget_here(Operation::Lock, self.known_at());
        locked(
            self.guarded
                .exclusive(local, const { &Spec::of(Reason::Mutex) }),
        )
    }

    /// Acquires the lock if it is free; returns `None` if not.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let mutex = pirn::sync::Mutex::new(1);
    /// let held = mutex.lock();
    /// assert!(mutex.try_lock().is_none());
    /// drop(held);
    /// assert_eq!(mutex.try_lock().map(|value| *value), Some(1));
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        point(Operation::TryLock, self.known_at());
        self.try_lock_here()
    }

    /// Like [`try_lock`](Self::try_lock); never suspends, not even under a strategy.
    #[inline]
    fn try_lock_here(&self) -> Option<MutexGuard<'_, T>> {
        let turn = self.guarded.try_exclusive();
        turn.map(|turn| MutexGuard { turn })
    }

    /// Acquires the lock, waiting for at most `timeout`; returns `None` if the time is up first.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let mutex = pirn::sync::Mutex::new(());
    /// let held = mutex.lock();
    /// assert!(mutex.lock_timeout(Duration::from_millis(1)).is_none());
    /// drop(held);
    /// assert!(mutex.lock_timeout(Duration::from_millis(1)).is_some());
    /// ```
    #[doc(alias = "try_lock_for")]
    #[track_caller]
    pub fn lock_timeout(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        let local = consume_budget_here(Operation::TryLock, self.known_at());
        let spec = Spec::of(Reason::Mutex).until(deadline_in(timeout));
        let turn = self.guarded.exclusive(local, &spec);
        turn.ok().map(|turn| MutexGuard { turn })
    }

    /// Acquires the lock, waiting until it becomes free or the caller is interrupted.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the lock is free. The lock has not been acquired.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::{Interrupt, cancel::Token, sync::Mutex};
    ///
    /// let mutex = Mutex::new(1);
    /// assert_eq!(*mutex.lock_interruptible()?, 1);
    ///
    /// let token = Token::new();
    /// token.cancel();
    /// let value = token.enter(|| mutex.lock_interruptible().map(|value| *value));
    /// assert_eq!(value, Err(Interrupt::Cancelled));
    /// # Ok::<(), Interrupt>(())
    /// ```
    #[track_caller]
    pub fn lock_interruptible(&self) -> Result<MutexGuard<'_, T>, Interrupt> {
        let _ = consume_budget_here(Operation::Lock, self.known_at());
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        let spec = Spec::interruptible(Reason::Mutex);
        // Read now: a callback of a token that `interrupted` creates may have waited.
        match self.guarded.exclusive(current::local(), &spec) {
            Ok(turn) => Ok(MutexGuard { turn }),
            Err(How::Interrupted(interrupt)) => Err(interrupt),
            Err(how) => unreachable!("a wait without a limit was {how:?}"),
        }
    }

    /// Returns true if the mutex is locked, by the caller or by another party. The answer may be
    /// outdated as soon as it is returned: it is for reports and assertions.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let mutex = pirn::sync::Mutex::new(1);
    /// let held = mutex.lock();
    /// assert!(mutex.is_locked());
    /// drop(held);
    /// assert!(!mutex.is_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.guarded.is_taken(Kind::Read)
    }

    /// Returns the value; the exclusive borrow proves that the mutex is not locked.
    ///
    /// # Examples
    /// ```
    /// let mut mutex = pirn::sync::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.guarded.get_mut()
    }
}

impl<'a, T: ?Sized> Released<'a, T> {
    /// [`Mutex::lock`].
    #[inline]
    #[track_caller]
    pub(super) fn lock(self) -> MutexGuard<'a, T> {
        let local = consume_budget_here(Operation::Lock, self.0.address());
        locked(self.0.exclusive(local, const { &Spec::of(Reason::Mutex) }))
    }
}

/// Returns the guard after a wait that only the lock ends.
#[inline]
#[track_caller]
fn locked<T: ?Sized>(turn: Result<Exclusive<'_, Turns, T>, How>) -> MutexGuard<'_, T> {
    match turn {
        Ok(turn) => MutexGuard { turn },
        Err(how) => unreachable!("a wait that only the lock ends ended as {how:?}"),
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Converts the guard to one of a part of the value, which `f` returns.
    ///
    /// # Panics
    /// With the panic of `f`; the lock is released then.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Mutex, MutexGuard};
    ///
    /// let point = Mutex::new((1, 2));
    /// let mut y = MutexGuard::map(point.lock(), |point| &mut point.1);
    /// *y += 5;
    /// drop(y);
    /// assert_eq!(*point.lock(), (1, 7));
    /// ```
    pub fn map<U: ?Sized>(
        guard: MutexGuard<'a, T>,
        f: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedMutexGuard<'a, U> {
        MappedMutexGuard::of(guard.turn.map(f))
    }

    /// Converts the guard to one of a part of the value, if `f` returns one.
    ///
    /// # Errors
    /// The guard, if `f` returns `None`.
    ///
    /// # Panics
    /// With the panic of `f`; the lock is released then.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{Mutex, MutexGuard};
    ///
    /// let items = Mutex::new(vec![1]);
    /// let first = MutexGuard::filter_map(items.lock(), |items| items.first_mut());
    /// *first.unwrap() += 1;
    /// let third = MutexGuard::filter_map(items.lock(), |items| items.get_mut(2));
    /// assert_eq!(*third.unwrap_err(), [2]);
    /// ```
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        guard: MutexGuard<'a, T>,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, MutexGuard<'a, T>> {
        let part = guard.turn.part(f);
        part.map(MappedMutexGuard::of)
            .map_err(|turn| MutexGuard { turn })
    }

    /// Releases the mutex that `guard` has locked.
    pub(super) fn release(guard: MutexGuard<'a, T>) -> Released<'a, T> {
        Released(guard.turn.release())
    }

    /// Returns the address by which reports find the mutex that `guard` has locked.
    pub(super) fn mutex(guard: &MutexGuard<'a, T>) -> usize {
        guard.turn.address()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.turn
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.turn
    }
}

impl<T: ?Sized> Nameable for Mutex<T> {
    fn known_at(&self) -> usize {
        self.guarded.address()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mutex");
        match self.try_lock_here() {
            Some(value) => out.field("value", &&*value),
            None => out.field("value", &format_args!("<locked>")),
        };
        out.finish()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
