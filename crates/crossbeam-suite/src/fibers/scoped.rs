//! Scoped fibers in the shape of crossbeam's scoped threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::fiber::payload;

/// A scope to spawn fibers in.
#[derive(Debug, Copy, Clone)]
pub struct Scope<'scope, 'env>(&'scope pirn::scope::Scope<'scope, 'env>);

/// The handle to join a fiber of a scope.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(pirn::scope::ScopedJoinHandle<'scope, T>);

/// Runs `body` with a scope, and waits for all fibers of that scope.
///
/// # Errors
/// The payload of a fiber that panicked and was not joined.
///
/// # Panics
/// Never: a panic of `body` is an error, too, where crossbeam's raises it again.
pub fn scope<'env, F, R>(body: F) -> thread::Result<R>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R,
{
    // UNWIND: changes made by `body` are not read after an error.
    catch_unwind(AssertUnwindSafe(|| {
        pirn::scope(|scope| body(&Scope(scope)))
    }))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a fiber in this scope.
    pub fn spawn<F, T>(&self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let scope = *self;
        ScopedJoinHandle(self.0.spawn(move || body(&scope)))
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the fiber to end and returns its result.
    ///
    /// # Errors
    /// The payload, if the fiber panicked.
    pub fn join(self) -> thread::Result<T> {
        self.0.join().map_err(payload)
    }
}
