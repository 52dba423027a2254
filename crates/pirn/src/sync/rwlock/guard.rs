//! The guards of the reader-writer lock.
//!
//! Owns: the public types. Does not own: the turns and the value (`guarded`).

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::shim::Lock;
use crate::sync::guarded::{Exclusive, Shared};
use crate::sync::mapped::{MappedRwLockReadGuard, MappedRwLockWriteGuard};
use crate::sync::shared_turns::SharedTurns;

/// Read access to the value of an [`RwLock`](super::RwLock); dropping the last read guard releases
/// the lock.
///
/// Releasing never suspends. The guard stays on the fiber that acquired it: it is not `Send`.
///
/// ```compile_fail,E0277
/// let lock = pirn::sync::RwLock::new(1);
/// let guard = lock.read();
/// pirn::run(move || drop(guard));
/// ```
///
/// # Examples
/// ```
/// use pirn::sync::{RwLock, RwLockReadGuard};
///
/// fn total(prices: &RwLockReadGuard<'_, Vec<u32>>) -> u32 {
///     prices.iter().sum()
/// }
///
/// let prices = RwLock::new(vec![3, 4]);
/// assert_eq!(total(&prices.read()), 7);
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    turn: Shared<'a, Lock<SharedTurns>, T>,
}

/// Write access to the value of an [`RwLock`](super::RwLock); dropping it releases the lock.
///
/// Releasing never suspends. The guard stays on the fiber that acquired it: it is not `Send`.
///
/// ```compile_fail,E0277
/// let lock = pirn::sync::RwLock::new(1);
/// let guard = lock.write();
/// pirn::run(move || drop(guard));
/// ```
///
/// # Examples
/// ```
/// use pirn::sync::{RwLock, RwLockWriteGuard};
///
/// fn refill(mut shelf: RwLockWriteGuard<'_, Vec<&str>>) {
///     shelf.push("flour");
/// }
///
/// let shelf = RwLock::new(Vec::new());
/// refill(shelf.write());
/// assert_eq!(*shelf.read(), ["flour"]);
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    turn: Exclusive<'a, Lock<SharedTurns>, T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn of(turn: Shared<'a, Lock<SharedTurns>, T>) -> Self {
        RwLockReadGuard { turn }
    }

    /// Converts the guard to one of a part of the value, which `f` returns.
    ///
    /// # Panics
    /// With the panic of `f`; the guard is dropped then.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockReadGuard};
    ///
    /// let point = RwLock::new((1, 2));
    /// let y = RwLockReadGuard::map(point.read(), |point| &point.1);
    /// assert_eq!(*y, 2);
    /// ```
    pub fn map<U: ?Sized>(
        guard: RwLockReadGuard<'a, T>,
        f: impl FnOnce(&T) -> &U,
    ) -> MappedRwLockReadGuard<'a, U> {
        MappedRwLockReadGuard::of(guard.turn.map(f))
    }

    /// Converts the guard to one of a part of the value, if `f` returns one.
    ///
    /// # Errors
    /// The guard, if `f` returns `None`.
    ///
    /// # Panics
    /// With the panic of `f`; the guard is dropped then.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockReadGuard};
    ///
    /// let items = RwLock::new(vec![1]);
    /// let third = RwLockReadGuard::filter_map(items.read(), |items| items.get(2));
    /// assert_eq!(*third.unwrap_err(), [1]);
    /// ```
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        guard: RwLockReadGuard<'a, T>,
        f: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<MappedRwLockReadGuard<'a, U>, RwLockReadGuard<'a, T>> {
        let part = guard.turn.part(f);
        part.map(MappedRwLockReadGuard::of)
            .map_err(|turn| RwLockReadGuard { turn })
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn of(turn: Exclusive<'a, Lock<SharedTurns>, T>) -> Self {
        RwLockWriteGuard { turn }
    }

    /// Converts the guard to one of a part of the value, which `f` returns.
    ///
    /// # Panics
    /// With the panic of `f`; the lock is released then.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let point = RwLock::new((1, 2));
    /// let y = RwLockWriteGuard::map(point.write(), |point| &mut point.1);
    /// assert_eq!(*y, 2);
    /// ```
    pub fn map<U: ?Sized>(
        guard: RwLockWriteGuard<'a, T>,
        f: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedRwLockWriteGuard<'a, U> {
        MappedRwLockWriteGuard::of(guard.turn.map(f))
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
    /// use pirn::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let items = RwLock::new(vec![1]);
    /// let third = RwLockWriteGuard::filter_map(items.write(), |items| items.get_mut(2));
    /// assert_eq!(*third.unwrap_err(), [1]);
    /// ```
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        guard: RwLockWriteGuard<'a, T>,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedRwLockWriteGuard<'a, U>, RwLockWriteGuard<'a, T>> {
        let part = guard.turn.part(f);
        part.map(MappedRwLockWriteGuard::of)
            .map_err(|turn| RwLockWriteGuard { turn })
    }

    /// Converts a write guard to a read guard without releasing the lock in between, so no other
    /// writer comes first. Readers that wait in front of all writers are served.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let mut value = lock.write();
    /// *value += 1;
    /// let value = RwLockWriteGuard::downgrade(value);
    /// assert_eq!(*value + *lock.read(), 4);
    /// ```
    pub fn downgrade(guard: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let turn = guard.turn.downgrade();
        RwLockReadGuard { turn }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.turn
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.turn
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.turn
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
