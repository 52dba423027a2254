//! A cell that must not be accessed by two parties at once.

use std::fmt;
use std::panic::Location;
#[expect(
    clippy::disallowed_types,
    reason = "never waited for: each access tries it once"
)]
use std::sync::RwLock;
use std::sync::TryLockError;

use super::{before, record};
use crate::base::choice::{Operation, Rule};
use crate::shim::Lock;

/// A value that something else protects: a lock beside it, a channel, the end of a fiber. So a read
/// and a write, or two writes, never happen at once.
///
/// A *race* is an access that begins while another one is in progress, unless both are reads. It
/// panics at the later access. In a simulated run each access begins with a choice, during which it
/// counts as in progress, so a campaign finds accesses that nothing orders. It does not find two
/// that a sleep keeps apart, since they overlap in no schedule. Elsewhere a race is noticed only if
/// the accesses overlap by chance.
///
/// It is safe in any case: the value is behind a lock that is tried once.
///
/// # Examples
/// ```
/// use pirn::sim::cell::Racy;
/// use pirn::sync::Mutex;
///
/// let (lock, balance) = (Mutex::new(()), Racy::new(0));
/// pirn::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| {
///             let _held = lock.lock();
///             balance.with_mut(|balance| *balance += 1);
///         });
///     }
/// });
/// assert_eq!(balance.get(), 4);
/// ```
#[derive(Default)]
pub struct Racy<T> {
    #[expect(clippy::disallowed_types, reason = "as above")]
    value: RwLock<T>,
    /// Where the accesses in progress began, the last one at the end.
    accesses: Lock<Vec<&'static Location<'static>>>,
}

impl<T> Racy<T> {
    /// Creates a cell with this value.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(pirn::sim::cell::Racy::new(7).into_inner(), 7);
    /// ```
    #[expect(clippy::disallowed_types, reason = "as above")]
    pub fn new(value: T) -> Racy<T> {
        Racy {
            value: RwLock::new(value),
            accesses: Lock::new(Vec::new()),
        }
    }

    /// Calls `f` with the value, to read it.
    ///
    /// # Panics
    /// If a write is in progress.
    ///
    /// # Cancellation
    /// Not an interruption point. Yields in a simulated run.
    ///
    /// # Examples
    /// ```
    /// let cell = pirn::sim::cell::Racy::new("text".to_owned());
    /// assert_eq!(cell.with(String::len), 4);
    /// ```
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        let value = match self.value.try_read() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(value)) => value.into_inner(),
            Err(TryLockError::WouldBlock) => self.race("read"),
        };
        let _access = self.begin(Operation::Load);
        f(&value)
    }

    /// Calls `f` with the value, to change it.
    ///
    /// # Panics
    /// If another access is in progress.
    ///
    /// # Cancellation
    /// Not an interruption point. Yields in a simulated run.
    ///
    /// # Examples
    /// ```
    /// let cell = pirn::sim::cell::Racy::new(vec![1]);
    /// cell.with_mut(|list| list.push(2));
    /// assert_eq!(cell.get(), [1, 2]);
    /// ```
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mut value = match self.value.try_write() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(value)) => value.into_inner(),
            Err(TryLockError::WouldBlock) => self.race("write"),
        };
        let _access = self.begin(Operation::Store);
        f(&mut value)
    }

    /// Returns a copy of the value.
    ///
    /// # Panics
    /// As [`with`](Racy::with).
    ///
    /// # Examples
    /// ```
    /// assert_eq!(pirn::sim::cell::Racy::new(7).get(), 7);
    /// ```
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Sets the value.
    ///
    /// # Panics
    /// As [`with_mut`](Racy::with_mut).
    ///
    /// # Examples
    /// ```
    /// let cell = pirn::sim::cell::Racy::new(7);
    /// cell.set(8);
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn set(&self, value: T) {
        // The old value is dropped after the access.
        drop(self.with_mut(|old| std::mem::replace(old, value)));
    }

    /// Returns the value.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(pirn::sim::cell::Racy::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        let value = self.value.into_inner();
        value.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Begins an access: others that come before it continues are races.
    #[track_caller]
    fn begin(&self, operation: Operation) -> Access<'_> {
        let (accesses, at) = (&self.accesses, Location::caller());
        accesses.lock().push(at);
        let access = Access { accesses, at };
        before(operation, (&raw const *accesses).addr());
        access
    }

    #[cold]
    #[track_caller]
    fn race(&self, access: &str) -> ! {
        let last = self.accesses.lock().last().copied();
        let other = last.map_or("another access".to_owned(), |at| {
            format!("the access at {at}")
        });
        let message = format!(
            "race: this {access} begins while {other} is in progress; nothing orders them"
        );
        // A party that joins the fiber may not look at its panic.
        record(Rule::Always, "no race", || false, || message.clone());
        panic!("{message}")
    }
}

/// An access in progress.
struct Access<'a> {
    accesses: &'a Lock<Vec<&'static Location<'static>>>,
    at: &'static Location<'static>,
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        let mut accesses = self.accesses.lock();
        // Readers that began at one place are alike.
        if let Some(index) = accesses.iter().position(|at| *at == self.at) {
            accesses.remove(index);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Racy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.try_read() {
            Ok(value) => f.debug_tuple("Racy").field(&*value).finish(),
            Err(_) => f.write_str("Racy(<in use>)"),
        }
    }
}
