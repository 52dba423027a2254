//! A value that is written once and can be read by all parties after that.
//!
//! Owns: the value, in a cell of `std`. Does not own: the choice of the writer (`once`).
//!
//! # Invariants
//! * OL1. The value is written by the caller that runs the closure of `once` (ON1), or through
//!   `&mut OnceLock`. It is present as soon as `once` is done, and is not written again while the
//!   cell is shared. So no two callers write at a time, and the cell of `std` never blocks a
//!   thread.

use std::fmt;
use std::mem;
use std::sync;

use super::once::Once;
use crate::base::choice::Operation;
use crate::wait::object::Nameable;
use crate::wait::point;

/// A cell that is written once. Readers that need the value wait while it is being initialized,
/// which parks a fiber and blocks a plain thread.
///
/// There is no poisoning: if the initializing closure panics, or fails, the cell stays empty. The
/// caller that has waited longest, or the next to come, then initializes the value.
///
/// # Examples
/// ```
/// use pirn::sync::OnceLock;
///
/// static NAME: OnceLock<String> = OnceLock::new();
/// pirn::scope(|s| {
///     for i in 0..3 {
///         s.spawn(move || NAME.get_or_init(|| format!("named by {i}")));
///     }
/// });
/// assert!(NAME.get().is_some());
/// ```
#[doc(alias = "OnceCell")]
pub struct OnceLock<T> {
    once: Once,
    value: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// Returns an empty cell.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::OnceLock;
    ///
    /// static HOST: OnceLock<String> = OnceLock::new();
    /// assert_eq!(HOST.get(), None);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        OnceLock {
            once: Once::new(),
            value: sync::OnceLock::new(),
        }
    }

    /// Returns the value if it is initialized. It takes one load.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::<u16>::new();
    /// assert_eq!(port.get(), None);
    /// port.set(8080).unwrap();
    /// assert_eq!(port.get(), Some(&8080));
    /// ```
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Returns the value if it is initialized; the exclusive borrow proves that no party
    /// initializes it now.
    ///
    /// # Examples
    /// ```
    /// let mut port = pirn::sync::OnceLock::from(8080);
    /// *port.get_mut().unwrap() += 1;
    /// assert_eq!(port.get(), Some(&8081));
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Blocks until another caller has written the value, and returns it.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::<u16>::new();
    /// pirn::scope(|s| {
    ///     let client = s.spawn(|| *port.wait());
    ///     port.set(8080).unwrap();
    ///     assert_eq!(client.join().unwrap(), 8080);
    /// });
    /// ```
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.written()
    }

    /// Writes `value` if the cell is empty; waits for another caller that is initializing it.
    ///
    /// # Errors
    /// `value`, if the cell has a value already.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::<u16>::new();
    /// assert_eq!(port.set(8080), Ok(()));
    /// assert_eq!(port.set(8081), Err(8081));
    /// assert_eq!(port.get(), Some(&8080));
    /// ```
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        point(Operation::Set, self.once.known_at());
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("not yet written"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Returns the value, initialized by `f` if the cell is empty.
    ///
    /// If another caller is initializing it, waits for that caller.
    ///
    /// # Panics
    /// If `f` runs and panics, with its panic; the cell stays empty.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if `f` accesses the value of the same cell.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::<u16>::new();
    /// assert_eq!(*port.get_or_init(|| 8080), 8080);
    /// assert_eq!(*port.get_or_init(|| unreachable!()), 8080);
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.once.call_once(|| {
            // OL1, ON1: this closure is the only one that runs, so the cell is empty.
            let _ = self.value.set(f());
        });
        self.written()
    }

    /// Returns the value, initialized by `f` if the cell is empty and `f` succeeds.
    ///
    /// If another caller is initializing it, waits for that caller.
    ///
    /// # Errors
    /// The error of `f`; the cell stays empty. The caller that has waited longest, or the next to
    /// come, then initializes the value.
    ///
    /// # Panics
    /// If `f` runs and panics, with its panic; the cell stays empty.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if `f` accesses the value of the same cell.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::<u16>::new();
    /// assert!(port.get_or_try_init(|| "x".parse::<u16>()).is_err());
    /// assert_eq!(port.get_or_try_init(|| "8080".parse::<u16>()), Ok(&8080));
    /// ```
    #[doc(alias = "try_get_or_init")]
    #[track_caller]
    pub fn get_or_try_init<F, E>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Result<T, E>,
    {
        let mut failed = None;
        self.once.try_call_once(|| match f() {
            Ok(value) => {
                // OL1, ON1: this closure is the only one that runs, so the cell is empty.
                let _ = self.value.set(value);
                true
            }
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        failed.map_or_else(|| Ok(self.written()), Err)
    }

    /// Consumes the cell and returns the value, or `None` if it is empty.
    ///
    /// # Examples
    /// ```
    /// let port = pirn::sync::OnceLock::from(8080);
    /// assert_eq!(port.into_inner(), Some(8080));
    /// ```
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Returns the value, if any, and leaves the cell empty.
    ///
    /// # Examples
    /// ```
    /// let mut port = pirn::sync::OnceLock::from(8080);
    /// assert_eq!(port.take(), Some(8080));
    /// assert_eq!(port.get(), None);
    /// ```
    pub fn take(&mut self) -> Option<T> {
        mem::take(self).into_inner()
    }

    /// Returns the value; `once` is done.
    #[inline]
    fn written(&self) -> &T {
        self.get().expect("OL1: done, so written")
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    /// Returns a cell that holds `value`.
    fn from(value: T) -> Self {
        let cell = OnceLock::new();
        // A new cell is empty, so this succeeds.
        let _ = cell.set(value);
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get()
            .cloned()
            .map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<empty>")),
        };
        out.finish()
    }
}
