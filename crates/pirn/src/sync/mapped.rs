//! Guards of a part of a locked value.
//!
//! Owns: the public types. Does not own: the turn and the pointer to the part (`guarded`).

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::guarded::{Exclusive, Shared};
use super::shared_turns::SharedTurns;
use super::turns::Turns;
use crate::shim::Lock;

/// Access to a part of the value of a locked [`Mutex`](super::Mutex); dropping it releases the
/// lock.
///
/// [`MutexGuard::map`](super::MutexGuard::map) returns it. Like the guard of the whole value, it is
/// not `Send`, and releasing never suspends. [`Condvar`](super::Condvar) does not accept it: while
/// a wait has released the lock, another holder may remove the part.
///
/// # Examples
/// ```
/// use pirn::sync::{MappedMutexGuard, Mutex, MutexGuard};
///
/// struct Account { balance: u32, owner: String }
///
/// fn balance(account: &Mutex<Account>) -> MappedMutexGuard<'_, u32> {
///     MutexGuard::map(account.lock(), |account| &mut account.balance)
/// }
///
/// let account = Mutex::new(Account { balance: 3, owner: "Ada".into() });
/// *balance(&account) += 4;
/// assert_eq!(account.lock().balance, 7);
/// # assert_eq!(account.into_inner().owner, "Ada");
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    turn: Exclusive<'a, Turns, T>,
}

/// Read access to a part of the value of an [`RwLock`](super::RwLock); dropping the last read guard
/// releases the lock.
///
/// [`RwLockReadGuard::map`](super::RwLockReadGuard::map) returns it. It is not `Send`.
///
/// # Examples
/// ```
/// use pirn::sync::{RwLock, RwLockReadGuard};
///
/// let words = RwLock::new(vec!["one", "two"]);
/// let second = RwLockReadGuard::map(words.read(), |words| &words[1]);
/// assert_eq!(*second, "two");
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct MappedRwLockReadGuard<'a, T: ?Sized> {
    turn: Shared<'a, Lock<SharedTurns>, T>,
}

/// Write access to a part of the value of an [`RwLock`](super::RwLock); dropping it releases the
/// lock.
///
/// [`RwLockWriteGuard::map`](super::RwLockWriteGuard::map) returns it. It is not `Send`.
///
/// # Examples
/// ```
/// use pirn::sync::{RwLock, RwLockWriteGuard};
///
/// let words = RwLock::new(vec!["one", "two"]);
/// let mut second = RwLockWriteGuard::map(words.write(), |words| &mut words[1]);
/// *second = "three";
/// drop(second);
/// assert_eq!(*words.read(), ["one", "three"]);
/// ```
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized> {
    turn: Exclusive<'a, Lock<SharedTurns>, T>,
}

/// What guards of a part have in common. `$borrow` is `&T` or `&mut T`.
macro_rules! mapped {
    ($Guard:ident, $Turn:ty, &$($mutable:tt)?) => {
        impl<'a, T: ?Sized> $Guard<'a, T> {
            pub(super) fn of(turn: $Turn) -> Self {
                $Guard { turn }
            }

            /// Converts the guard to one of a smaller part, which `f` returns.
            ///
            /// # Panics
            /// With the panic of `f`; the guard is dropped then.
            pub fn map<U: ?Sized>(
                guard: Self,
                f: impl FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            ) -> $Guard<'a, U> {
                $Guard { turn: guard.turn.map(f) }
            }

            /// Converts the guard to one of a smaller part, if `f` returns one.
            ///
            /// # Errors
            /// The guard, if `f` returns `None`.
            ///
            /// # Panics
            /// With the panic of `f`; the guard is dropped then.
            #[doc(alias = "try_map")]
            pub fn filter_map<U: ?Sized>(
                guard: Self,
                f: impl FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            ) -> Result<$Guard<'a, U>, Self> {
                let part = guard.turn.part(f);
                part.map(|turn| $Guard { turn }).map_err(|turn| $Guard { turn })
            }
        }

        impl<T: ?Sized> Deref for $Guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.turn
            }
        }

        $(
            impl<T: ?Sized> DerefMut for $Guard<'_, T> {
                #[inline]
                fn deref_mut(&mut self) -> &$mutable T {
                    &mut self.turn
                }
            }
        )?

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

mapped!(MappedMutexGuard, Exclusive<'a, Turns, T>, &mut);
mapped!(MappedRwLockReadGuard, Shared<'a, Lock<SharedTurns>, T>, &);
mapped!(MappedRwLockWriteGuard, Exclusive<'a, Lock<SharedTurns>, T>, &mut);
