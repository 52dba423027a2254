//! The object pool: a bounded number of objects that are expensive to create, lent and returned.
//!
//! Owns: the idle objects. Does not own: the limit (`semaphore`). Every object that is lent or
//! being created holds a permit. So after a panic in `make`, or a discarded object, the pool can
//! create another one.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::semaphore::{AcquireError, Permit, Semaphore};
use crate::base::choice::Operation;
use crate::shim::Lock;
use crate::wait::object::Nameable;
use crate::wait::{Interrupt, point};

/// A pool of at most a fixed number of objects, each lent to one user at a time: connections,
/// buffers, compressors.
///
/// Objects are created when they are first needed, kept when they are returned, and dropped with
/// the pool. Users wait for an object in order of arrival.
///
/// # Examples
/// ```
/// use pirn::sync::Pool;
///
/// let pool = Pool::new(2, || Vec::<u8>::with_capacity(4096)).reset(Vec::clear);
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
#[doc(alias = "sync.Pool")]
pub struct Pool<T> {
    places: Semaphore,
    idle: Lock<Vec<T>>,
    make: Box<dyn Fn() -> T + Send + Sync>,
    reset: Option<Reset<T>>,
}

type Reset<T> = Box<dyn Fn(&mut T) + Send + Sync>;

/// An object from a [`Pool`]; dropping it returns it to the pool.
///
/// Returning never suspends, unless the function of [`Pool::reset`] does.
///
/// # Examples
/// ```
/// use pirn::sync::{Pool, Pooled};
///
/// let pool = Pool::new(1, String::new);
/// let mut text: Pooled<'_, String> = pool.get().unwrap();
/// text.push('a');
/// drop(text);
/// assert_eq!(*pool.get().unwrap(), "a");
/// ```
#[must_use = "the object is returned as soon as this is dropped"]
pub struct Pooled<'a, T> {
    pool: &'a Pool<T>,
    /// `None` only in `drop` and `discard`.
    thing: Option<T>,
    /// Dropped after `thing`, so that the next user that gets the permit finds the object.
    _permit: Permit<'a>,
}

impl<T> Pool<T> {
    /// Returns a pool of up to `capacity` objects, each created by `make` when it is first needed.
    ///
    /// `make` runs in the call that needs the object, on that caller's stack. It may wait. If it
    /// can fail, or an object does not survive an error, lend `Option`s that the user fills:
    /// `Pool::new(8, || None)`, as in [the guide](crate::guide::sync#pool). With a `capacity` of 0,
    /// [`get`](Self::get) waits indefinitely.
    ///
    /// # Panics
    /// If `capacity` is more than `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// let pool = pirn::sync::Pool::new(2, || vec![0_u8; 4096]);
    /// assert_eq!(pool.idle(), 0);
    /// assert_eq!(pool.get().unwrap().len(), 4096);
    /// assert_eq!(pool.idle(), 1);
    /// ```
    pub fn new(capacity: usize, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Pool {
            places: Semaphore::new(capacity),
            idle: Lock::new(Vec::new()),
            make: Box::new(make),
            reset: None,
        }
    }

    /// Sets a function that is called on every returned object, when its [`Pooled`] is dropped.
    ///
    /// If it panics, the object is dropped, a new one can be created in its place, and the panic
    /// propagates out of that drop.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Pool;
    ///
    /// let pool = Pool::new(1, String::new).reset(String::clear);
    /// pool.get().unwrap().push('a');
    /// assert!(pool.get().unwrap().is_empty());
    /// ```
    #[must_use]
    pub fn reset(mut self, reset: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.reset = Some(Box::new(reset));
        self
    }

    /// Returns an object, creating it if none is idle; blocks while all are lent.
    ///
    /// # Errors
    /// The interrupt of the caller.
    ///
    /// # Panics
    /// With the panic of `make`; the pool is then unchanged.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let pool = pirn::sync::Pool::new(1, || 0);
    /// pirn::scope(|s| {
    ///     for _ in 0..3 {
    ///         s.spawn(|| *pool.get().unwrap() += 1);
    ///     }
    /// });
    /// assert_eq!(*pool.get().unwrap(), 3);
    /// ```
    #[track_caller]
    pub fn get(&self) -> Result<Pooled<'_, T>, Interrupt> {
        match self.places.acquire(1) {
            Ok(permit) => Ok(self.lend(permit)),
            Err(AcquireError::Interrupted(interrupt)) => Err(interrupt),
            Err(AcquireError::Closed) => unreachable!("a pool is never closed"),
        }
    }

    /// Returns an object if that is possible without waiting, creating it if none is idle.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `make` does.
    ///
    /// # Examples
    /// ```
    /// let pool = pirn::sync::Pool::new(1, || 0);
    /// let lent = pool.try_get();
    /// assert!(lent.is_some() && pool.try_get().is_none());
    /// drop(lent);
    /// assert!(pool.try_get().is_some());
    /// ```
    pub fn try_get(&self) -> Option<Pooled<'_, T>> {
        self.places.try_acquire(1).map(|permit| self.lend(permit))
    }

    /// Returns the number of objects that have been created and are not lent. Other users may
    /// change it at any time.
    ///
    /// # Examples
    /// ```
    /// let pool = pirn::sync::Pool::new(3, || 0);
    /// drop(pool.get().unwrap());
    /// assert_eq!(pool.idle(), 1);
    /// ```
    pub fn idle(&self) -> usize {
        point(Operation::Look, 0);
        self.idle.lock().len()
    }

    fn lend<'a>(&'a self, permit: Permit<'a>) -> Pooled<'a, T> {
        let idle = self.idle.lock().pop();
        // UNWIND: the permit is returned, and nothing else has changed.
        let thing = idle.unwrap_or_else(|| (self.make)());
        Pooled {
            pool: self,
            thing: Some(thing),
            _permit: permit,
        }
    }
}

impl<T> Pooled<'_, T> {
    /// Removes the object from the pool and returns it; the pool can then create a new one.
    ///
    /// # Examples
    /// ```
    /// let pool = pirn::sync::Pool::new(1, || "connected");
    /// let broken = pool.get().unwrap();
    /// assert_eq!(broken.discard(), "connected");
    /// assert_eq!(pool.idle(), 0);
    /// ```
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
            // UNWIND: unwinding drops the object and returns the permit.
            reset(&mut thing);
        }
        point(Operation::Release, self.pool.places.known_at());
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
