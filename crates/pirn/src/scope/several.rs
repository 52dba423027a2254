//! Several closures at once: all results, the first success, or the first end.

use std::mem;
use std::thread::panicking;

use super::open::scope;
use super::try_scope::try_scope;
use crate::base::choice::Operation;
use crate::base::drop_guard::drop_caught;
use crate::cancel::check;
use crate::shim::Lock;
use crate::wait::{Interrupt, point};

/// Runs all of `jobs` concurrently, each on a fiber, and returns their results in order. The first
/// error cancels the others, and is returned when they have ended.
///
/// # Errors
/// As [`try_scope`](crate::try_scope()). If the runtime shuts down before all jobs have been
/// spawned, the error is `E::from(Interrupt::Cancelled)`, also in a
/// [`shield`](crate::cancel::shield).
///
/// # Panics
/// As [`try_scope`](crate::try_scope()).
///
/// # Cancellation
/// As [`scope`](crate::scope()).
///
/// # Examples
/// ```
/// let squares = pirn::scope::all((1..4).map(|n| move || Ok::<_, pirn::Interrupt>(n * n)));
/// assert_eq!(squares, Ok(vec![1, 4, 9]));
/// ```
#[doc(alias = "errgroup")]
#[doc(alias = "join_all")]
#[doc(alias = "try_join")]
#[doc(alias = "try_join_all")]
#[track_caller]
pub fn all<J, F, T, E>(jobs: J) -> Result<Vec<T>, E>
where
    J: IntoIterator<Item = F>,
    F: FnOnce() -> Result<T, E> + Send,
    T: Send,
    E: From<Interrupt> + Send,
{
    let results = &Slots::new();
    try_scope(|s| {
        for (at, job) in jobs.into_iter().enumerate() {
            let fiber = s.try_spawn(move || job().map(|value| results.put(at, value)));
            if fiber.is_err() {
                // In a shield the caller has no interrupt, though its runtime shuts down.
                let interrupt = check().err().unwrap_or(Interrupt::Cancelled);
                return Err(E::from(interrupt));
            }
        }
        // A failure has been recorded before it ends this. Else the caller has been interrupted.
        s.wait().map_err(E::from)
    })?;
    Ok(results.take().into_iter().flatten().collect())
}

/// Runs all of `jobs` concurrently, each on a fiber, and returns the value of the first one that
/// succeeds. That cancels the others, and the value is returned when they have ended.
///
/// # Errors
/// The errors of all jobs, in order, if none has succeeded. A job that was not started because the
/// caller was cancelled has the error `E::from(Interrupt::Cancelled)`.
///
/// # Panics
/// As [`scope`](crate::scope()).
///
/// # Cancellation
/// As [`scope`](crate::scope()).
///
/// # Examples
/// ```
/// use pirn::Interrupt;
/// use std::time::Duration;
///
/// let mirrors = [300_u64, 1, 200];
/// let first = pirn::scope::any(mirrors.map(|ms| {
///     move || {
///         pirn::sleep(Duration::from_millis(ms))?;
///         Ok::<_, Interrupt>(ms)
///     }
/// }));
/// assert_eq!(first, Ok(1));
/// ```
#[doc(alias = "select_ok")]
#[track_caller]
pub fn any<J, F, T, E>(jobs: J) -> Result<T, Vec<E>>
where
    J: IntoIterator<Item = F>,
    F: FnOnce() -> Result<T, E> + Send,
    T: Send,
    E: From<Interrupt> + Send,
{
    let (first, errors) = (&First::new(), &Slots::new());
    scope(|s| {
        for (at, job) in jobs.into_iter().enumerate() {
            // Stays if the job is not started.
            errors.put(at, None);
            s.spawn(move || match job() {
                Ok(value) => {
                    point(Operation::Cancel, 0);
                    first.offer(value);
                    s.cancel();
                }
                Err(error) => errors.put(at, Some(error)),
            });
        }
    });
    let not_run = || E::from(Interrupt::Cancelled);
    let errors = errors.take().into_iter().flatten();
    let errors = errors.map(|error| error.unwrap_or_else(not_run));
    first.take().ok_or_else(|| errors.collect())
}

/// Runs all of `jobs` concurrently, each on a fiber, and returns the value of the first one that
/// ends. That cancels the others, and the value is returned when they have ended. `None` if there
/// are no jobs, or if none was started because the caller was cancelled.
///
/// # Panics
/// As [`scope`](crate::scope()).
///
/// # Cancellation
/// As [`scope`](crate::scope()).
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let first = pirn::scope::race([60_000_u64, 1].map(|ms| {
///     move || {
///         // The longer sleep is interrupted when the shorter one has ended.
///         pirn::sleep(Duration::from_millis(ms)).is_ok().then_some(ms)
///     }
/// }));
/// assert_eq!(first, Some(Some(1)));
/// ```
#[doc(alias = "select_all")]
#[track_caller]
pub fn race<J, F, T>(jobs: J) -> Option<T>
where
    J: IntoIterator<Item = F>,
    F: FnOnce() -> T + Send,
    T: Send,
{
    let first = &First::new();
    scope(|s| {
        for job in jobs {
            s.spawn(move || {
                let value = job();
                point(Operation::Cancel, 0);
                first.offer(value);
                s.cancel();
            });
        }
    });
    first.take()
}

/// The results of jobs, in their order. Jobs leave them here, and no handle is kept: a panic of a
/// fiber with a handle would cancel the others only when that handle is joined.
struct Slots<T>(Lock<Vec<Option<T>>>);

impl<T> Slots<T> {
    fn new() -> Slots<T> {
        Slots(Lock::new(Vec::new()))
    }

    fn put(&self, at: usize, value: T) {
        let mut all = self.0.lock();
        if all.len() <= at {
            all.resize_with(at + 1, || None);
        }
        let before = all[at].replace(value);
        // Dropped outside the lock, because it is user code.
        drop(all);
        drop(before);
    }

    fn take(&self) -> Vec<Option<T>> {
        mem::take(&mut self.0.lock())
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        if panicking() {
            // UNWIND: the panic of a job continues unwinding.
            self.take().into_iter().for_each(drop_caught);
        }
    }
}

/// The first value that is stored.
struct First<T>(Lock<Option<T>>);

impl<T> First<T> {
    fn new() -> First<T> {
        First(Lock::new(None))
    }

    fn offer(&self, value: T) {
        let mut first = self.0.lock();
        if first.is_none() {
            *first = Some(value);
            return;
        }
        // Dropped outside the lock, because it is user code.
        drop(first);
        drop(value);
    }

    fn take(&self) -> Option<T> {
        self.0.lock().take()
    }
}

impl<T> Drop for First<T> {
    fn drop(&mut self) {
        if panicking() {
            // UNWIND: the panic of a job continues unwinding.
            drop_caught(self.take());
        }
    }
}
