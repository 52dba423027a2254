//! Children of a scope on workers of another dispatcher. A scope waits for the count of its
//! children, which any thread may change. Only the scope's deadline needs special handling, where
//! the dispatcher uses another clock.

use super::handle::ScopedJoinHandle;
use super::scoped::Scope;
use crate::dispatcher::Dispatcher;
use crate::fiber::current;
use crate::fiber::local::Inheritance;
use crate::spawn::Builder;

impl<'scope> Scope<'scope, '_> {
    /// Spawns a fiber in this scope that runs on `dispatcher`.
    ///
    /// If the scope has been cancelled, or the dispatcher accepts no more fibers, `f` is dropped
    /// and joining returns [`NotRun`](crate::spawn::JoinError::NotRun). The scope's deadline does
    /// not apply to the fiber if the dispatcher uses another clock than the scope's runtime (a
    /// deterministic one).
    ///
    /// On a [limited](Dispatcher::limited) dispatcher, fibers get their turns in the order of their
    /// spawns.
    ///
    /// # Panics
    /// As [`Dispatcher::spawn`]. With the panic of the `clone` of an inherited fiber-local value
    /// ([`fiber_local!`](crate::fiber_local!)); `f` is dropped then.
    ///
    /// # Cancellation
    /// As [`Dispatcher::spawn`].
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let path = String::from(".");
    /// pirn::scope(|s| {
    ///     let handle = s.spawn_on(&Dispatcher::io(), || std::fs::metadata(&path));
    ///     assert!(handle.join().unwrap().unwrap().is_dir());
    /// });
    /// ```
    #[doc(alias = "spawn_fifo")]
    #[track_caller]
    pub fn spawn_on<F, T>(
        &'scope self,
        dispatcher: &Dispatcher,
        f: F,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // First: it may panic, and `wrap` may wait.
        let inherited = Inheritance::copy(current::local());
        let wrapped = dispatcher.wrap(f);
        let fresh = self.fresh(current::local(), inherited, Builder::new(), wrapped);
        if !dispatcher.keeps_time_of(self.pool()) {
            // H2: not published yet.
            let header = fresh.ptr().header();
            header.set_scope(header.scope().untimed());
        }
        let (fiber, joined) = fresh.into_parts();
        dispatcher.publish(fiber);
        ScopedJoinHandle::new(joined, &self.children)
    }
}
