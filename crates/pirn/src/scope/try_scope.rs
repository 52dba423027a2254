//! [`try_scope`]: a scope for fibers that may fail; it returns the first error.

use std::fmt;
use std::sync::Arc;
use std::thread::panicking;
use std::time::Duration;

use super::handle::ScopedJoinHandle;
use super::open::{conduct, prepare};
use super::scoped::Scope;
use crate::base::choice::Operation;
use crate::base::drop_guard::drop_caught;
use crate::cancel::Token;
use crate::dispatcher::Dispatcher;
use crate::join::Fiber;
use crate::runtime::Handle;
use crate::sched::pool::shared::Pool;
use crate::shim::Lock;
use crate::spawn::SpawnError;
use crate::wait::{Interrupt, point};

/// A scope for fibers that may fail; see [`try_scope`].
///
/// # Examples
/// ```
/// use pirn::Interrupt;
/// use pirn::scope::TryScope;
///
/// fn start<'scope>(s: &'scope TryScope<'scope, '_, Interrupt>, parts: &'scope mut [u32]) {
///     for part in parts {
///         s.spawn(move || {
///             pirn::cancel::check()?;
///             *part *= 10;
///             Ok(())
///         });
///     }
/// }
///
/// let mut parts = [1, 2, 3];
/// let done = pirn::try_scope(|s| {
///     start(s, &mut parts);
///     Ok::<_, Interrupt>(())
/// });
/// assert_eq!((done, parts), (Ok(()), [10, 20, 30]));
/// ```
pub struct TryScope<'scope, 'env: 'scope, E> {
    scope: Scope<'scope, 'env>,
    tally: Lock<Tally<E>>,
}

/// The results of the fibers so far.
struct Tally<E> {
    /// The first error, if it came before the scope was cancelled.
    first: Option<E>,
    /// The number of fibers that have not succeeded, so far or at all. Below zero while one that
    /// has succeeded is not counted yet.
    wanting: isize,
}

impl<E> Drop for Tally<E> {
    fn drop(&mut self) {
        if panicking() {
            // UNWIND: the panic of a fiber or of the body continues unwinding.
            drop_caught(self.first.take());
        }
    }
}

/// An owned permission to join a fiber of a [`TryScope`].
///
/// # Examples
/// ```
/// use pirn::Interrupt;
///
/// let sum = pirn::try_scope(|s| {
///     let handles = [1_i32, 2, 3].map(|n| s.spawn(move || Ok(n * n)));
///     Ok::<_, Interrupt>(handles.into_iter().filter_map(|handle| handle.join()).sum::<i32>())
/// });
/// assert_eq!(sum, Ok(14));
/// ```
pub struct TryJoinHandle<'scope, T>(ScopedJoinHandle<'scope, Option<T>>);

/// Runs `f` with a scope, as [`scope`](crate::scope()) does, for fibers that return results. The
/// first error, of a fiber or of `f`, cancels all others. The scope returns it once they have
/// ended.
///
/// An error after the scope's cancellation counts as a consequence of it, and is dropped. If
/// another party cancelled the scope, and a fiber did not start or failed because of that, the
/// result is `E::from(Interrupt::Cancelled)`, or the error that `f` returned.
///
/// # Errors
/// The first error before the scope was cancelled; else as above.
///
/// # Panics
/// As [`scope`](crate::scope()).
///
/// # Cancellation
/// As [`scope`](crate::scope()).
///
/// # Examples
/// ```
/// use pirn::{Interrupt, channel};
///
/// #[derive(Debug, PartialEq)]
/// enum Failed {
///     Number(std::num::ParseIntError),
///     Interrupt(Interrupt),
/// }
/// impl From<Interrupt> for Failed {
///     fn from(interrupt: Interrupt) -> Failed {
///         Failed::Interrupt(interrupt)
///     }
/// }
///
/// let (_tx, rx) = channel::bounded::<()>(0);
/// let failed = pirn::try_scope(|s| {
///     // Would wait indefinitely.
///     s.spawn(|| rx.recv().map_err(|_| Failed::Interrupt(Interrupt::Cancelled)));
///     s.spawn(|| "seven".parse::<u32>().map_err(Failed::Number));
///     Ok(())
/// });
/// assert!(matches!(failed, Err(Failed::Number(_))));
/// ```
#[doc(alias = "errgroup")]
#[doc(alias = "try_join")]
#[track_caller]
pub fn try_scope<'env, F, T, E>(f: F) -> Result<T, E>
where
    F: for<'scope> FnOnce(&'scope TryScope<'scope, 'env, E>) -> Result<T, E>,
    E: From<Interrupt> + Send + 'env,
{
    open_try(Arc::clone(Handle::current().pool()), f)
}

#[track_caller]
fn open_try<'env, F, T, E>(pool: Arc<Pool>, f: F) -> Result<T, E>
where
    F: for<'scope> FnOnce(&'scope TryScope<'scope, 'env, E>) -> Result<T, E>,
    E: From<Interrupt> + Send + 'env,
{
    let scope = TryScope {
        scope: prepare(pool, true),
        tally: Lock::new(Tally {
            first: None,
            wanting: 0,
        }),
    };
    let body = conduct(&scope.scope, || {
        let result = f(&scope);
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => scope.fail(error).map_or(Ok(None), Err),
        }
    });
    let mut tally = scope.tally.lock();
    let (first, wanting) = (tally.first.take(), tally.wanting);
    drop(tally);
    match (first, body) {
        (Some(first), _) => Err(first),
        (None, Ok(Some(value))) if wanting == 0 => Ok(value),
        (None, Ok(_)) => Err(E::from(Interrupt::Cancelled)),
        (None, Err(error)) => Err(error),
    }
}

impl Handle {
    /// Runs a scope with fibers on this runtime, as [`try_scope`](crate::try_scope()) does. `f`
    /// itself runs in the caller.
    ///
    /// # Errors
    /// As [`try_scope`](crate::try_scope()).
    ///
    /// # Panics
    /// As [`Handle::scope`].
    ///
    /// # Cancellation
    /// As [`scope`](crate::scope()).
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    /// let result = runtime.handle().try_scope(|s| {
    ///     let handle = s.spawn(|| Ok(6 * 7));
    ///     Ok::<_, Interrupt>(handle.join())
    /// });
    /// assert_eq!(result, Ok(Some(42)));
    /// ```
    #[track_caller]
    pub fn try_scope<'env, F, T, E>(&self, f: F) -> Result<T, E>
    where
        F: for<'scope> FnOnce(&'scope TryScope<'scope, 'env, E>) -> Result<T, E>,
        E: From<Interrupt> + Send + 'env,
    {
        open_try(Arc::clone(self.pool()), f)
    }
}

impl<E: Send> TryScope<'_, '_, E> {
    /// Records a failure. Returns the error if it is a consequence of an earlier failure, or of the
    /// scope's cancellation.
    fn fail(&self, error: E) -> Option<E> {
        point(Operation::Cancel, 0);
        let mut tally = self.tally.lock();
        if tally.first.is_some() || self.scope.children.region.is_cancelled() {
            return Some(error);
        }
        tally.first = Some(error);
        drop(tally);
        self.scope.cancel();
        None
    }
}

impl<'scope, 'env, E: Send> TryScope<'scope, 'env, E> {
    /// Spawns a fiber in this scope, as [`Scope::spawn`] does. If it fails, that cancels the scope.
    ///
    /// # Panics
    /// As [`Scope::spawn`].
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// type Failure = Box<dyn std::error::Error + Send + Sync>;
    ///
    /// let failed: Result<(), Failure> = pirn::try_scope(|s| {
    ///     s.spawn(|| Ok("7".parse::<u32>()?));
    ///     s.spawn(|| Ok("seven".parse::<u32>()?));
    ///     Ok(())
    /// });
    /// assert!(failed.unwrap_err().is::<std::num::ParseIntError>());
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> TryJoinHandle<'scope, T>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.counted(self.scope.spawn(self.tallied(f)))
    }

    /// Spawns a fiber as [`spawn`](Self::spawn) does, unless the scope has been cancelled or its
    /// runtime shut down.
    ///
    /// # Errors
    /// Returns `f` in that case.
    ///
    /// # Panics
    /// As [`Scope::spawn`].
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     s.cancel();
    ///     assert!(s.try_spawn(|| Ok(7)).is_err());
    ///     Ok::<_, Interrupt>("no fiber has failed")
    /// });
    /// assert_eq!(result, Ok("no fiber has failed"));
    /// ```
    #[track_caller]
    pub fn try_spawn<F, T>(
        &'scope self,
        f: F,
    ) -> Result<TryJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        let handle = self.scope.spawn_if_admitted(f, |f| self.tallied(f));
        handle.map(|handle| self.counted(handle))
    }

    /// Spawns a fiber in this scope that runs on `dispatcher`, as [`Scope::spawn_on`] does. If it
    /// fails, that cancels the scope.
    ///
    /// # Panics
    /// As [`Scope::spawn_on`].
    ///
    /// # Cancellation
    /// As [`Scope::spawn_on`].
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let is_dir = pirn::try_scope(|s| {
    ///     let handle = s.spawn_on(&Dispatcher::io(), || Ok(std::fs::metadata(".")?.is_dir()));
    ///     Ok::<_, std::io::Error>(handle.join())
    /// });
    /// assert_eq!(is_dir.unwrap(), Some(true));
    /// ```
    #[track_caller]
    pub fn spawn_on<F, T>(
        &'scope self,
        dispatcher: &Dispatcher,
        f: F,
    ) -> TryJoinHandle<'scope, T>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.counted(self.scope.spawn_on(dispatcher, self.tallied(f)))
    }

    /// Counts a fiber that has been spawned: as a failure, until it succeeds. It may have
    /// succeeded already.
    fn counted<T>(
        &'scope self,
        handle: ScopedJoinHandle<'scope, Option<T>>,
    ) -> TryJoinHandle<'scope, T> {
        // Not before the spawn: that may panic.
        self.tally.lock().wanting += 1;
        TryJoinHandle(handle)
    }

    /// Returns the closure that the fiber runs: `f`, with its success or failure recorded.
    fn tallied<F, T>(
        &'scope self,
        f: F,
    ) -> impl FnOnce() -> Option<T> + Send + use<'scope, 'env, F, T, E>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
    {
        move || match f() {
            Ok(value) => {
                self.tally.lock().wanting -= 1;
                Some(value)
            }
            Err(error) => {
                drop(self.fail(error));
                None
            }
        }
    }

    /// Waits for all children that have been spawned so far, as [`Scope::wait`] does.
    ///
    /// # Errors
    /// As [`Scope::wait`].
    ///
    /// # Panics
    /// As [`Scope::wait`].
    ///
    /// # Cancellation
    /// As [`Scope::wait`].
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let (tx, rx) = pirn::channel::unbounded();
    /// let received = pirn::try_scope(|s| {
    ///     s.spawn(|| {
    ///         tx.send(7).unwrap();
    ///         Ok(())
    ///     });
    ///     s.wait()?;
    ///     Ok::<_, Interrupt>(rx.try_recv())
    /// });
    /// assert_eq!(received, Ok(Ok(7)));
    /// ```
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.scope.wait()
    }

    /// Waits as [`wait`](Self::wait) does, for at most `limit`; returns false if children are left
    /// then. If the clock cannot express `limit`, there is no limit.
    ///
    /// # Errors
    /// As [`Scope::wait`].
    ///
    /// # Panics
    /// As [`Scope::wait`].
    ///
    /// # Cancellation
    /// As [`Scope::wait`].
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    /// use std::time::Duration;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| {
    ///         pirn::park();
    ///         Ok(())
    ///     });
    ///     assert!(!s.wait_timeout(Duration::from_millis(1))?);
    ///     handle.fiber().unpark();
    ///     Ok::<_, Interrupt>(s.wait_timeout(Duration::from_secs(60))?)
    /// });
    /// assert_eq!(result, Ok(true));
    /// ```
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool, Interrupt> {
        self.scope.wait_timeout(limit)
    }

    /// Cancels the scope permanently, as [`Scope::cancel`] does. Children that do not succeed
    /// because of that make the scope return `E::from(Interrupt::Cancelled)`.
    ///
    /// # Cancellation
    /// As [`Scope::cancel`].
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     s.spawn(|| pirn::spawn::park_interruptible());
    ///     s.cancel();
    ///     Ok::<_, Interrupt>(())
    /// });
    /// assert_eq!(result, Err(Interrupt::Cancelled));
    /// ```
    pub fn cancel(&self) {
        self.scope.cancel();
    }

    /// Returns the token under which the scope's body and its children run.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     assert!(!s.token().is_cancelled());
    ///     s.cancel();
    ///     Ok::<_, Interrupt>(s.token().is_cancelled())
    /// });
    /// assert_eq!(result, Ok(true));
    /// ```
    #[must_use]
    pub fn token(&self) -> &Token {
        self.scope.token()
    }

    /// Registers `f` to be called when all children have ended, as [`Scope::on_exit`] does.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let (tx, rx) = pirn::channel::bounded(4);
    /// let result = pirn::try_scope(|s| {
    ///     s.on_exit(|| drop(tx.close()));
    ///     s.spawn(|| {
    ///         tx.send(1).unwrap();
    ///         Ok(())
    ///     });
    ///     Ok::<_, Interrupt>(())
    /// });
    /// assert_eq!(result, Ok(()));
    /// assert_eq!(rx.iter().collect::<Vec<i32>>(), [1]);
    /// ```
    pub fn on_exit<F: FnOnce() + Send + 'scope>(&'scope self, f: F) {
        self.scope.on_exit(f);
    }

    /// Returns how many children have not ended. It may lag behind a child's last statement.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| {
    ///         pirn::park();
    ///         Ok(())
    ///     });
    ///     assert_eq!(s.len(), 1);
    ///     handle.fiber().unpark();
    ///     s.wait()?;
    ///     Ok::<_, Interrupt>(s.len())
    /// });
    /// assert_eq!(result, Ok(0));
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.scope.len()
    }

    /// Returns true if all children have ended.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| {
    ///         pirn::park();
    ///         Ok(())
    ///     });
    ///     assert!(!s.is_empty());
    ///     handle.fiber().unpark();
    ///     s.wait()?;
    ///     Ok::<_, Interrupt>(s.is_empty())
    /// });
    /// assert_eq!(result, Ok(true));
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scope.is_empty()
    }
}

impl<T> TryJoinHandle<'_, T> {
    /// Waits for the fiber to end and returns its value. `None` if it has failed or panicked or not
    /// been started, or if the caller was interrupted. The scope has the error, or the panic.
    ///
    /// # Panics
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// type Failure = Box<dyn std::error::Error + Send + Sync>;
    ///
    /// let result: Result<(), Failure> = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| Ok("seven".parse::<u32>()?));
    ///     // The scope has the error, and returns it.
    ///     assert_eq!(handle.join(), None);
    ///     Ok(())
    /// });
    /// assert!(result.is_err());
    /// ```
    #[track_caller]
    pub fn join(self) -> Option<T> {
        self.0.wait().ok()?;
        if self.0.has_panicked() {
            return None;
        }
        self.0.join().ok().flatten()
    }

    /// Waits for the fiber to end and keeps the handle, as [`ScopedJoinHandle::wait`] does.
    ///
    /// # Errors
    /// As [`ScopedJoinHandle::wait`].
    ///
    /// # Panics
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// As [`ScopedJoinHandle::wait`].
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| Ok(7));
    ///     handle.wait()?;
    ///     Ok::<_, Interrupt>(handle.join())
    /// });
    /// assert_eq!(result, Ok(Some(7)));
    /// ```
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.0.wait()
    }

    /// Returns true if the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| Ok(7));
    ///     handle.wait()?;
    ///     Ok::<_, Interrupt>(handle.is_finished())
    /// });
    /// assert_eq!(result, Ok(true));
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Requests the fiber to stop, as [`ScopedJoinHandle::cancel`] does. If the fiber fails because
    /// of that, or does not start, the scope returns an error.
    ///
    /// # Cancellation
    /// As [`ScopedJoinHandle::cancel`].
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| pirn::spawn::park_interruptible());
    ///     handle.cancel();
    ///     Ok::<_, Interrupt>(())
    /// });
    /// assert_eq!(result, Err(Interrupt::Cancelled));
    /// ```
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns the fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let result = pirn::try_scope(|s| {
    ///     let handle = s.spawn(|| {
    ///         pirn::park();
    ///         Ok(7)
    ///     });
    ///     handle.fiber().unpark();
    ///     Ok::<_, Interrupt>(handle.join())
    /// });
    /// assert_eq!(result, Ok(Some(7)));
    /// ```
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        self.0.fiber()
    }
}

impl<E> fmt::Debug for TryScope<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryScope")
            .field("alive", &self.scope.len())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for TryJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TryJoinHandle").field(self.fiber()).finish()
    }
}
