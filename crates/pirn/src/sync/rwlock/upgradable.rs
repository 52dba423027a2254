//! Reading with the right to upgrade.
//!
//! Owns: the public guard. Does not own: the order of turns and the upgrade (`shared_turns`).
//!
//! # Invariants
//! * UG1. A guard has the turn of `RwLock::upgradable` (`slot`: the right to upgrade) and a turn to
//!   read. So there is at most one guard, and at most one party that upgrades (RT4).

use std::fmt;
use std::ops::Deref;

use super::guard::{RwLockReadGuard, RwLockWriteGuard};
use crate::base::choice::Operation;
use crate::shim::Lock;
use crate::sync::guarded::{Exclusive, Guarded, Shared};
use crate::sync::shared_turns::SharedTurns;
use crate::sync::turns::Turns;
use crate::wait::yielding::consume_budget_here;
use crate::wait::{Reason, Spec, point};

/// Read access to the value of an [`RwLock`](super::RwLock), with the right to upgrade to write
/// access; dropping it ends both.
///
/// At most one such guard of a lock exists at a time, beside any number of readers. So the value does
/// not change between a read through this guard and a write after its upgrade. Releasing never
/// suspends. The guard stays on the fiber that acquired it: it is not `Send`.
///
/// # Examples
/// ```
/// use std::collections::HashMap;
/// use pirn::sync::{RwLock, RwLockUpgradableReadGuard};
///
/// fn number(names: &RwLock<HashMap<String, usize>>, name: &str) -> usize {
///     let seen = names.upgradable_read();
///     if let Some(number) = seen.get(name) {
///         return *number;
///     }
///     let number = seen.len();
///     RwLockUpgradableReadGuard::upgrade(seen).insert(name.into(), number);
///     number
/// }
///
/// let names = RwLock::default();
/// assert_eq!((number(&names, "a"), number(&names, "b"), number(&names, "a")), (0, 1, 0));
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct RwLockUpgradableReadGuard<'a, T: ?Sized> {
    // Declared before `slot`, so dropped first: otherwise the next upgradable guard could count this
    // turn as another reader.
    turn: Shared<'a, Lock<SharedTurns>, T>,
    slot: Exclusive<'a, Turns, ()>,
    lock: &'a Guarded<Lock<SharedTurns>, T>,
}

impl<'a, T: ?Sized> RwLockUpgradableReadGuard<'a, T> {
    /// Creates a guard from the right to upgrade and a turn to read `lock` (UG1).
    pub(super) fn of(
        slot: Exclusive<'a, Turns, ()>,
        turn: Shared<'a, Lock<SharedTurns>, T>,
        lock: &'a Guarded<Lock<SharedTurns>, T>,
    ) -> Self {
        RwLockUpgradableReadGuard { turn, slot, lock }
    }

    /// Converts the guard to a write guard, waiting until all other read guards are dropped. No
    /// other writer acquires the lock in between: waiting writers come after this one.
    ///
    /// Readers that arrive meanwhile wait until the write guard is dropped.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Blocks forever if the caller has another read guard of the same lock.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let value = lock.upgradable_read();
    /// assert_eq!(*value, 1); // The value that the next line changes.
    /// *RwLockUpgradableReadGuard::upgrade(value) += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
    #[track_caller]
    pub fn upgrade(guard: Self) -> RwLockWriteGuard<'a, T> {
        let local = consume_budget_here(Operation::Lock, guard.lock.address());
        let RwLockUpgradableReadGuard { turn, slot, lock } = guard;
        let turn = lock.upgrade(turn, local, &Spec::of(Reason::RwLock));
        // The next upgradable reader now waits until the turn to write ends.
        drop(slot);
        RwLockWriteGuard::of(turn)
    }

    /// Converts the guard to a write guard if there is no other reader.
    ///
    /// # Errors
    /// The guard, if there are other readers.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.read();
    /// let value = lock.upgradable_read();
    /// let value = RwLockUpgradableReadGuard::try_upgrade(value).unwrap_err();
    /// drop(reader);
    /// *RwLockUpgradableReadGuard::try_upgrade(value).unwrap() += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
    pub fn try_upgrade(guard: Self) -> Result<RwLockWriteGuard<'a, T>, Self> {
        point(Operation::TryLock, guard.lock.address());
        let RwLockUpgradableReadGuard { turn, slot, lock } = guard;
        match lock.try_upgrade(turn) {
            Ok(turn) => Ok(RwLockWriteGuard::of(turn)),
            Err(turn) => Err(RwLockUpgradableReadGuard { turn, slot, lock }),
        }
    }

    /// Converts the guard to a read guard, and releases the right to upgrade.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockUpgradableReadGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let value = RwLockUpgradableReadGuard::downgrade(lock.upgradable_read());
    /// assert!(lock.try_upgradable_read().is_some());
    /// assert_eq!(*value, 1);
    /// ```
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard::of(guard.turn)
    }
}

impl<T: ?Sized> Deref for RwLockUpgradableReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.turn
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockUpgradableReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockUpgradableReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
