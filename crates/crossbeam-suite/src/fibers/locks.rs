//! Locks of pirn in the shape of `std`'s, with results that are never errors.

use std::convert::Infallible;

use pirn::sync::MutexGuard;

/// A lock that parks fibers and not their threads.
#[derive(Debug)]
pub struct Mutex<T>(pirn::sync::Mutex<T>);

/// A condition variable that parks fibers and not their threads.
#[derive(Debug, Default)]
pub struct Condvar(pirn::sync::Condvar);

impl<T> Mutex<T> {
    /// Returns an unlocked lock around `value`.
    pub fn new(value: T) -> Self {
        Mutex(pirn::sync::Mutex::new(value))
    }

    /// Waits for the lock and acquires it.
    ///
    /// # Errors
    /// Never.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Infallible> {
        Ok(self.0.lock())
    }
}

impl Condvar {
    /// Returns a condition variable without waiters.
    pub fn new() -> Self {
        Condvar::default()
    }

    /// Releases the lock, waits for a notification and acquires the lock again.
    ///
    /// # Errors
    /// Never.
    pub fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, Infallible> {
        Ok(self.0.wait(guard))
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
