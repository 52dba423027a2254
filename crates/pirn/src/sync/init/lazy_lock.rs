//! A value that is initialized on first use.
//!
//! Owns: the closure that returns the value. Does not own: the value and the choice of the
//! initializing caller (`once_lock`).

use std::fmt;
use std::ops::Deref;

use super::once_lock::OnceLock;
use crate::shim::Lock;

/// A value that is initialized by its first user. Other users wait meanwhile, which parks a fiber
/// and blocks a plain thread.
///
/// If the closure panics, its caller gets the panic, and every later access panics too, because the
/// closure has been consumed.
///
/// # Examples
/// ```
/// use pirn::sync::LazyLock;
///
/// static SQUARES: LazyLock<Vec<u32>> = LazyLock::new(|| (0..10).map(|n| n * n).collect());
/// assert_eq!(SQUARES[3], 9);
/// ```
#[doc(alias = "Lazy")]
#[doc(alias = "sync.OnceValue")]
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    /// Taken by the caller that initializes the value.
    make: Lock<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns a lazy value that `make` initializes.
    ///
    /// # Examples
    /// ```
    /// let table = pirn::sync::LazyLock::new(|| vec![1, 2, 3]);
    /// assert_eq!(table.len(), 3);
    /// ```
    pub const fn new(make: F) -> Self {
        LazyLock {
            value: OnceLock::new(),
            make: Lock::new(Some(make)),
        }
    }

    /// Returns the value. Initializes it, or waits for another caller that is initializing it. The
    /// same as `*this`.
    ///
    /// # Panics
    /// If the closure panics, now or in the first call.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if the closure accesses the value.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::LazyLock;
    ///
    /// static ANSWER: LazyLock<u32> = LazyLock::new(|| 6 * 7);
    /// assert_eq!(LazyLock::force(&ANSWER), &42);
    /// ```
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let make = this.make.lock().take();
            let Some(make) = make else {
                panic!("the closure of this `LazyLock` has panicked before");
            };
            make()
        })
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns the value for writing, initialized first if need be; the exclusive borrow proves
    /// that no other party accesses it.
    ///
    /// # Panics
    /// If the closure panics, now or in the first call.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::LazyLock;
    ///
    /// let mut table = LazyLock::new(|| vec![1]);
    /// LazyLock::force_mut(&mut table).push(2);
    /// assert_eq!(*table, [1, 2]);
    /// ```
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.value.get_mut().expect("just initialized")
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match self.value.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<not made yet>")),
        };
        out.finish()
    }
}
