//! A value that is made when it is first asked for.
//!
//! Owns: the closure that makes it. Does not own: the value and who makes it (`once_lock`).

use std::fmt;
use std::ops::Deref;

use super::once_lock::OnceLock;
use crate::shim::Lock;

/// A value that its first user makes; others wait meanwhile, which parks a fiber and blocks a
/// plain thread.
///
/// If the closure panics, its caller gets the panic, and everybody who asks later panics
/// too: there is nothing left to make the value with.
///
/// # Examples
/// ```
/// use pirn::sync::LazyLock;
///
/// static SQUARES: LazyLock<Vec<u32>> = LazyLock::new(|| (0..10).map(|n| n * n).collect());
/// assert_eq!(SQUARES[3], 9);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    /// Taken by the one that makes the value.
    make: Lock<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns a value that `make` will make.
    pub const fn new(make: F) -> Self {
        LazyLock {
            value: OnceLock::new(),
            make: Lock::new(Some(make)),
        }
    }

    /// Returns the value, making it or waiting for whoever makes it. The same as `*this`.
    ///
    /// # Panics
    /// If the closure does, now or when it was called first.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Blocking
    /// For ever, if the closure asks for the value.
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
