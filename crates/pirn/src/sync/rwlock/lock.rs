//! The reader-writer lock: a value that many parties may read at a time, or one may write.
//!
//! Owns: when it is locked. Does not own: the value and its guards (`guarded`), nor the order of
//! turns (`shared_turns`), nor the guard that can be upgraded (`upgradable`).

use std::fmt;
use std::time::Duration;

use super::guard::{RwLockReadGuard, RwLockWriteGuard};
use super::upgradable::RwLockUpgradableReadGuard;
use crate::base::choice::Operation;
use crate::fiber::current::{self, Local};
use crate::shim::Lock;
use crate::sync::guarded::Guarded;
use crate::sync::shared_turns::{Kind, SharedTurns};
use crate::sync::turns::Turns;
use crate::wait::object::Nameable;
use crate::wait::yielding::consume_budget_here;
use crate::wait::{How, Interrupt, Reason, Spec, deadline_in, interrupted, point};

/// A lock that many readers share or one writer holds; waiting for it parks a fiber and blocks a
/// plain thread.
///
/// The lock is granted strictly in order of arrival. Readers that arrive while a writer waits are
/// served after it, so no later reader overtakes a waiting writer. Adjacent readers are served
/// together. When a writer stops waiting, by its time limit or an interrupt, the readers behind it
/// are served.
///
/// So a fiber that holds a read guard and locks for reading again can deadlock with a writer that
/// waits for the first guard. Nor can a reader become a writer by calling `write`:
/// [`upgradable_read`](RwLock::upgradable_read) is for readers that may have to write.
///
/// There is no poisoning: if a holder panics, the lock is released and the next holder finds the
/// value as the panic left it.
///
/// # Examples
/// ```
/// use pirn::sync::RwLock;
///
/// let words = RwLock::new(vec!["one"]);
/// pirn::scope(|s| {
///     s.spawn(|| words.write().push("two"));
///     s.spawn(|| assert_eq!(words.read()[0], "one"));
/// });
/// assert_eq!(words.into_inner(), ["one", "two"]);
/// ```
#[doc(alias = "sync.RWMutex")]
pub struct RwLock<T: ?Sized> {
    /// Held by the reader that may upgrade (UG1).
    upgradable: Guarded<Turns, ()>,
    guarded: Guarded<Lock<SharedTurns>, T>,
}

impl<T> RwLock<T> {
    /// Returns an unlocked lock.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::RwLock;
    ///
    /// static LEVEL: RwLock<u32> = RwLock::new(1);
    /// *LEVEL.write() += 1;
    /// assert_eq!(*LEVEL.read(), 2);
    /// ```
    pub const fn new(value: T) -> Self {
        RwLock {
            upgradable: Guarded::new(Turns::new(), ()),
            guarded: Guarded::new(Lock::new(SharedTurns::new()), value),
        }
    }

    /// Consumes the lock and returns the value.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(1);
    /// *lock.write() += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
    pub fn into_inner(self) -> T {
        self.guarded.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, waiting for the writer that holds the lock and for writers that wait
    /// already.
    ///
    /// # Cancellation
    /// Not an interruption point; see [`read_interruptible`](RwLock::read_interruptible).
    /// Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let config = pirn::sync::RwLock::new("fast");
    /// pirn::scope(|s| {
    ///     for _ in 0..2 {
    ///         s.spawn(|| assert_eq!(*config.read(), "fast"));
    ///     }
    /// });
    /// assert!(config.try_write().is_some());
    /// ```
    #[doc(alias = "RLock")]
    #[inline]
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        let local = consume_budget_here(Operation::Read, self.known_at());
        match self.guarded.shared(local, &Spec::of(Reason::RwLock)) {
            Ok(turn) => RwLockReadGuard::of(turn),
            Err(how) => unexpected(how),
        }
    }

    /// Locks for writing, waiting for present holders and for earlier waiters.
    ///
    /// # Cancellation
    /// Not an interruption point; see [`write_interruptible`](RwLock::write_interruptible).
    /// Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let hits = pirn::sync::RwLock::new(0);
    /// pirn::scope(|s| {
    ///     for _ in 0..4 {
    ///         s.spawn(|| *hits.write() += 1);
    ///     }
    /// });
    /// assert_eq!(*hits.read(), 4);
    /// ```
    #[inline]
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        let local = consume_budget_here(Operation::Lock, self.known_at());
        match self.guarded.exclusive(local, &Spec::of(Reason::RwLock)) {
            Ok(turn) => RwLockWriteGuard::of(turn),
            Err(how) => unexpected(how),
        }
    }

    /// Locks for reading with the right to [upgrade](RwLockUpgradableReadGuard::upgrade). First
    /// waits until no other party has this right, and then, in the order of arrival, like
    /// [`read`](RwLock::read).
    ///
    /// Callers that may have to write exclude each other: use [`read`](RwLock::read) where a write
    /// is rare. There is no variant with a limit; see
    /// [`try_upgradable_read`](RwLock::try_upgradable_read).
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let value = lock.upgradable_read();
    /// // Others can read meanwhile.
    /// assert_eq!(lock.try_read().map(|other| *other), Some(*value));
    /// ```
    #[track_caller]
    pub fn upgradable_read(&self) -> RwLockUpgradableReadGuard<'_, T> {
        let local = consume_budget_here(Operation::Lock, self.known_at());
        let spec = Spec::of(Reason::RwLock);
        // No closure: reports name the caller's line.
        let slot = match self.upgradable.exclusive(local, &spec) {
            Ok(slot) => slot,
            Err(how) => unexpected(how),
        };
        // Not the record from before the wait: the fiber may have moved (C2).
        match self.guarded.shared(current::local(), &spec) {
            Ok(turn) => RwLockUpgradableReadGuard::of(slot, turn, &self.guarded),
            Err(how) => unexpected(how),
        }
    }

    /// Locks for reading with the right to upgrade, if that is possible without waiting.
    ///
    /// Otherwise returns `None`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let value = lock.upgradable_read();
    /// assert!(lock.try_upgradable_read().is_none());
    /// drop(value);
    /// assert!(lock.try_upgradable_read().is_some());
    /// ```
    pub fn try_upgradable_read(&self) -> Option<RwLockUpgradableReadGuard<'_, T>> {
        point(Operation::TryLock, self.known_at());
        let slot = self.upgradable.try_exclusive()?;
        let turn = self.guarded.try_shared()?;
        Some(RwLockUpgradableReadGuard::of(slot, turn, &self.guarded))
    }

    /// Locks for reading if no writer holds the lock or waits for it; returns `None` if one does.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let reader = lock.read();
    /// assert!(lock.try_read().is_some());
    /// drop(reader);
    /// let _writer = lock.write();
    /// assert!(lock.try_read().is_none());
    /// ```
    #[doc(alias = "TryRLock")]
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        point(Operation::TryLock, self.known_at());
        self.try_read_here()
    }

    /// Like [`try_read`](Self::try_read); never suspends, not even under a strategy.
    #[inline]
    fn try_read_here(&self) -> Option<RwLockReadGuard<'_, T>> {
        let turn = self.guarded.try_shared();
        turn.map(RwLockReadGuard::of)
    }

    /// Locks for writing if the lock is free; returns `None` if not.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let reader = lock.read();
    /// assert!(lock.try_write().is_none());
    /// drop(reader);
    /// *lock.try_write().unwrap() += 1;
    /// assert_eq!(lock.into_inner(), 6);
    /// ```
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        point(Operation::TryLock, self.known_at());
        let turn = self.guarded.try_exclusive();
        turn.map(RwLockWriteGuard::of)
    }

    /// Locks for reading, waiting for at most `timeout`; returns `None` if the time is up first.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let lock = pirn::sync::RwLock::new(5);
    /// let writer = lock.write();
    /// let limit = Duration::from_millis(1);
    /// assert!(lock.read_timeout(limit).is_none());
    /// drop(writer);
    /// assert_eq!(lock.read_timeout(limit).map(|value| *value), Some(5));
    /// ```
    #[doc(alias = "try_read_for")]
    #[track_caller]
    pub fn read_timeout(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, T>> {
        let local = consume_budget_here(Operation::TryLock, self.known_at());
        let spec = Spec::of(Reason::RwLock).until(deadline_in(timeout));
        let turn = self.guarded.shared(local, &spec);
        turn.ok().map(RwLockReadGuard::of)
    }

    /// Locks for writing, waiting for at most `timeout`; returns `None` if the time is up first.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let lock = pirn::sync::RwLock::new(());
    /// let reader = lock.read();
    /// assert!(lock.write_timeout(Duration::from_millis(1)).is_none());
    /// assert!(lock.read_timeout(Duration::from_millis(1)).is_some());
    /// drop(reader);
    /// assert!(lock.write_timeout(Duration::from_millis(1)).is_some());
    /// ```
    #[doc(alias = "try_write_for")]
    #[track_caller]
    pub fn write_timeout(&self, timeout: Duration) -> Option<RwLockWriteGuard<'_, T>> {
        let local = consume_budget_here(Operation::TryLock, self.known_at());
        let spec = Spec::of(Reason::RwLock).until(deadline_in(timeout));
        let turn = self.guarded.exclusive(local, &spec);
        turn.ok().map(RwLockWriteGuard::of)
    }

    /// Locks for reading, waiting until that is possible or the caller is interrupted.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the lock is free. The lock has not been acquired.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::{Interrupt, cancel::Token, sync::RwLock};
    ///
    /// let lock = RwLock::new(5);
    /// assert_eq!(*lock.read_interruptible()?, 5);
    ///
    /// let token = Token::new();
    /// token.cancel();
    /// let value = token.enter(|| lock.read_interruptible().map(|value| *value));
    /// assert_eq!(value, Err(Interrupt::Cancelled));
    /// # Ok::<(), Interrupt>(())
    /// ```
    #[track_caller]
    pub fn read_interruptible(&self) -> Result<RwLockReadGuard<'_, T>, Interrupt> {
        let local = begin_interruptible(Operation::Read, self.known_at())?;
        let spec = Spec::interruptible(Reason::RwLock);
        match self.guarded.shared(local, &spec) {
            Ok(turn) => Ok(RwLockReadGuard::of(turn)),
            Err(How::Interrupted(interrupt)) => Err(interrupt),
            Err(how) => unexpected(how),
        }
    }

    /// Locks for writing, waiting until that is possible or the caller is interrupted.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the lock is free. The lock has not been acquired.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::{Interrupt, sync::RwLock, timeout};
    ///
    /// let lock = RwLock::new(5);
    /// let reader = lock.read();
    /// let limit = Duration::from_millis(1);
    /// assert!(timeout(limit, || lock.write_interruptible().map(drop)).is_err());
    /// drop(reader);
    /// *lock.write_interruptible()? += 1;
    /// assert_eq!(lock.into_inner(), 6);
    /// # Ok::<(), Interrupt>(())
    /// ```
    #[track_caller]
    pub fn write_interruptible(&self) -> Result<RwLockWriteGuard<'_, T>, Interrupt> {
        let local = begin_interruptible(Operation::Lock, self.known_at())?;
        let spec = Spec::interruptible(Reason::RwLock);
        match self.guarded.exclusive(local, &spec) {
            Ok(turn) => Ok(RwLockWriteGuard::of(turn)),
            Err(How::Interrupted(interrupt)) => Err(interrupt),
            Err(how) => unexpected(how),
        }
    }

    /// Returns true if the lock is held, for reading or writing, by the caller or by another party.
    /// The answer may be outdated as soon as it is returned: it is for reports and assertions.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let reader = lock.read();
    /// assert!(lock.is_locked() && !lock.is_locked_exclusive());
    /// drop(reader);
    /// assert!(!lock.is_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.guarded.is_taken(Kind::Write)
    }

    /// Returns true if the lock is held for writing. The answer may be outdated as soon as it is
    /// returned: it is for reports and assertions.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let lock = pirn::sync::RwLock::new(5);
    /// let writer = lock.write();
    /// assert!(lock.is_locked_exclusive());
    /// drop(writer);
    /// assert!(!lock.is_locked_exclusive());
    /// ```
    pub fn is_locked_exclusive(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.guarded.is_taken(Kind::Read)
    }

    /// Returns the value; the exclusive borrow proves that the lock is free.
    ///
    /// # Examples
    /// ```
    /// let mut lock = pirn::sync::RwLock::new(5);
    /// *lock.get_mut() += 1;
    /// assert_eq!(lock.into_inner(), 6);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.guarded.get_mut()
    }
}

/// Counts the operation.
///
/// # Errors
/// The interrupt of the caller.
fn begin_interruptible(
    operation: Operation,
    object: usize,
) -> Result<&'static Local, Interrupt> {
    let _ = consume_budget_here(operation, object);
    // Read afterwards: a callback of a token that this creates may have waited.
    interrupted().map_or_else(|| Ok(current::local()), Err)
}

#[cold]
#[track_caller]
fn unexpected(how: How) -> ! {
    unreachable!("a wait that only the lock ends ended as {how:?}");
}

impl<T: ?Sized> Nameable for RwLock<T> {
    fn known_at(&self) -> usize {
        self.guarded.address()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read_here() {
            Some(value) => out.field("value", &&*value),
            None => out.field("value", &format_args!("<locked>")),
        };
        out.finish()
    }
}
