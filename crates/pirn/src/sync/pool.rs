//! The object pool: a bounded number of things that are expensive to make, lent and returned.
//!
//! Owns: the things that nobody has at present. Does not own: how many there may be
//! (`semaphore`); every thing that is lent, and every one that is being made, holds a permit.
//! So a maker that panics, or a thing that is thrown away, leaves room for another one.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::semaphore::{AcquireError, Permit, Semaphore};
use crate::shim::Lock;
use crate::wait::Interrupt;

/// Lends up to a fixed number of things, each to one user at a time: connections, buffers,
/// compressors.
///
/// Things are made when they are first needed, kept when they come back, and dropped with the
/// pool.
///
/// # Examples
/// ```
/// use pirn::sync::Pool;
///
/// let pool = Pool::new(2, || Vec::with_capacity(4096)).reset(|buffer: &mut Vec<u8>| buffer.clear());
/// pirn::scope(|s| {
///     for i in 0..10 {
///         let pool = &pool;
///         s.spawn(move || {
///             let mut buffer = pool.get().unwrap();
///             assert!(buffer.is_empty());
///             buffer.push(i);
///         });
///     }
/// });
/// assert!(pool.idle() <= 2);
/// ```
pub struct Pool<T> {
    places: Semaphore,
    idle: Lock<Vec<T>>,
    make: Box<dyn Fn() -> T + Send + Sync>,
    reset: Option<Reset<T>>,
}

type Reset<T> = Box<dyn Fn(&mut T) + Send + Sync>;

/// A thing out of a [`Pool`]; dropping it gives it back.
pub struct Pooled<'a, T> {
    pool: &'a Pool<T>,
    /// Gone only in `drop` and `discard`.
    thing: Option<T>,
    /// After `thing`: who is let in by it finds the thing.
    _permit: Permit<'a>,
}

impl<T> Pool<T> {
    /// Returns a pool of up to `capacity` things, each made by `make` when it is first needed.
    pub fn new(capacity: usize, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Pool {
            places: Semaphore::new(capacity),
            idle: Lock::new(Vec::new()),
            make: Box::new(make),
            reset: None,
        }
    }

    /// Has `reset` called on everything that comes back, by whoever gives it back.
    ///
    /// If it panics, the thing is dropped and makes room for a new one; the panic goes on.
    #[must_use]
    pub fn reset(mut self, reset: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.reset = Some(Box::new(reset));
        self
    }

    /// Returns a thing that nobody else has, made now if need be; waits while all are lent.
    ///
    /// # Errors
    /// The interrupt that the caller is under.
    ///
    /// # Panics
    /// If the maker does; the pool is as before then.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn get(&self) -> Result<Pooled<'_, T>, Interrupt> {
        match self.places.acquire(1) {
            Ok(permit) => Ok(self.lend(permit)),
            Err(AcquireError::Interrupted(interrupt)) => Err(interrupt),
            Err(AcquireError::Closed) => unreachable!("a pool is never closed"),
        }
    }

    /// Returns a thing if that is possible without waiting; it is made now if need be.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless the maker does.
    pub fn try_get(&self) -> Option<Pooled<'_, T>> {
        self.places.try_acquire(1).map(|permit| self.lend(permit))
    }

    /// Returns how many things have been made and are not lent.
    pub fn idle(&self) -> usize {
        self.idle.lock().len()
    }

    fn lend<'a>(&'a self, permit: Permit<'a>) -> Pooled<'a, T> {
        let idle = self.idle.lock().pop();
        // UNWIND: the permit goes back, and nothing else has changed.
        let thing = idle.unwrap_or_else(|| (self.make)());
        Pooled {
            pool: self,
            thing: Some(thing),
            _permit: permit,
        }
    }
}

impl<T> Pooled<'_, T> {
    /// Takes the thing out of the pool for good; there is room for a new one then.
    pub fn discard(mut self) -> T {
        self.thing.take().expect("gone only at the end")
    }
}

impl<T> Deref for Pooled<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect("gone only at the end")
    }
}

impl<T> DerefMut for Pooled<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect("gone only at the end")
    }
}

impl<T> Drop for Pooled<'_, T> {
    fn drop(&mut self) {
        let Some(mut thing) = self.thing.take() else {
            return;
        };
        if let Some(reset) = &self.pool.reset {
            // UNWIND: the thing is dropped on the way, and the permit goes back.
            reset(&mut thing);
        }
        self.pool.idle.lock().push(thing);
    }
}

impl<T: fmt::Debug> fmt::Debug for Pooled<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("idle", &self.idle())
            .finish_non_exhaustive()
    }
}
