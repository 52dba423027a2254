//! Locks of pirn in the shape of `std`'s, whose results are never errors.

use std::convert::Infallible;

use pirn::sync::MutexGuard;

/// A lock that fibers wait for without their thread.
#[derive(Debug)]
pub struct Mutex<T>(pirn::sync::Mutex<T>);

/// A condition that fibers wait for without their thread.
#[derive(Debug, Default)]
pub struct Condvar(pirn::sync::Condvar);

impl<T> Mutex<T> {
    /// Returns a free lock around `value`.
    pub fn new(value: T) -> Self {
        Mutex(pirn::sync::Mutex::new(value))
    }

    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// Never.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Infallible> {
        Ok(self.0.lock())
    }
}

impl Condvar {
    /// Returns a condition that nobody waits for.
    pub fn new() -> Self {
        Condvar::default()
    }

    /// Frees the lock, waits for a notification and takes the lock again.
    ///
    /// # Errors
    /// Never.
    pub fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, Infallible> {
        Ok(self.0.wait(guard))
    }

    /// Wakes everybody who waits.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
