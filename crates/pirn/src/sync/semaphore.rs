//! The semaphore: a number of permits that any fiber or thread can take and give back.
//!
//! Owns: the public types: permits that return themselves on drop, and the errors. Does not own:
//! the count and the queue (`permits`).

use std::error::Error;
use std::fmt;
use std::io;
use std::mem;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::permits::{Denied, MOST, Permits};
use crate::base::choice::Operation;
use crate::shim::Lock;
use crate::wait::object::Nameable;
use crate::wait::{
    Interrupt, Reason, Spec, consume_budget, deadline_in, interrupted, point,
};

/// A number of permits, which fibers and threads take and return. A caller that wants more than
/// are left waits, which parks a fiber and blocks a plain thread.
///
/// Permits are granted strictly in order of arrival, whatever the size of a request. Small requests
/// do not starve a large one at the front. When a request gives up, those behind it are served.
///
/// Any fiber or thread may drop a [`Permit`]. A panic of its holder returns it like any other drop.
///
/// # Examples
/// At most two at a time:
/// ```
/// use pirn::sync::Semaphore;
///
/// static DOORS: Semaphore = Semaphore::new(2);
/// pirn::scope(|s| {
///     for _ in 0..8 {
///         s.spawn(|| {
///             let _permit = DOORS.acquire(1).unwrap();
///             // … work …
///         });
///     }
/// });
/// assert_eq!(DOORS.available(), 2);
/// ```
#[doc(alias = "semaphore.Weighted")]
pub struct Semaphore {
    permits: Lock<Permits>,
}

/// Permits of a [`Semaphore`]; dropping it returns them. Returning never suspends.
///
/// # Examples
/// ```
/// let doors = pirn::sync::Semaphore::new(3);
/// let permit = doors.acquire(2)?;
/// assert_eq!(doors.available(), 1);
/// drop(permit);
/// assert_eq!(doors.available(), 3);
/// # Ok::<(), pirn::sync::AcquireError>(())
/// ```
#[doc(alias = "SemaphorePermit")]
#[must_use = "the permits are given back as soon as this is dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    count: usize,
}

/// Permits of a shared [`Semaphore`], which it keeps alive; dropping it returns them. Returning
/// never suspends.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use pirn::sync::{OwnedPermit, Semaphore};
///
/// struct Session {
///     _slot: OwnedPermit,
/// }
///
/// let slots = Arc::new(Semaphore::new(1));
/// let session = Session { _slot: slots.acquire_owned(1)? };
/// assert_eq!(slots.available(), 0);
/// drop(session);
/// assert_eq!(slots.available(), 1);
/// # Ok::<(), pirn::sync::AcquireError>(())
/// ```
#[doc(alias = "OwnedSemaphorePermit")]
#[must_use = "the permits are given back as soon as this is dropped"]
pub struct OwnedPermit {
    semaphore: Arc<Semaphore>,
    count: usize,
}

/// The error of [`Semaphore::acquire`] and its variants: why permits were not acquired.
///
/// # Examples
/// ```
/// use pirn::sync::{AcquireError, Semaphore};
///
/// let doors = Semaphore::new(1);
/// doors.close();
/// assert_eq!(doors.acquire(1).unwrap_err(), AcquireError::Closed);
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquireError {
    /// The semaphore is closed.
    Closed,
    /// The caller was interrupted before it had the permits.
    Interrupted(Interrupt),
}

impl Nameable for Semaphore {
    fn known_at(&self) -> usize {
        (&raw const self.permits).addr()
    }
}

impl Semaphore {
    /// Returns a semaphore with `n` permits.
    ///
    /// # Panics
    /// If `n` is more than `isize::MAX`.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Semaphore;
    ///
    /// static CONNECTIONS: Semaphore = Semaphore::new(100);
    /// assert_eq!(CONNECTIONS.available(), 100);
    /// ```
    pub const fn new(n: usize) -> Self {
        assert!(n <= MOST, "more than `isize::MAX` permits");
        Semaphore {
            permits: Lock::new(Permits::new(n)),
        }
    }

    /// Takes `k` permits, waiting until there are enough and all earlier requests have been served.
    ///
    /// A request for more permits than exist waits until they have been [added](Semaphore::add),
    /// and all later requests wait behind it.
    ///
    /// # Errors
    /// The interrupt of the caller, even if there are permits; or that the semaphore is closed. No
    /// permit has been taken.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let cores = pirn::sync::Semaphore::new(4);
    /// pirn::scope(|s| {
    ///     for _ in 0..6 {
    ///         s.spawn(|| {
    ///             let _cores = cores.acquire(2).unwrap();
    ///             // … at most two fibers are here …
    ///         });
    ///     }
    /// });
    /// assert_eq!(cores.available(), 4);
    /// ```
    #[doc(alias = "acquire_many")]
    #[track_caller]
    pub fn acquire(&self, k: usize) -> Result<Permit<'_>, AcquireError> {
        self.take(k, &Spec::interruptible(Reason::Semaphore))?;
        Ok(self.permit(k))
    }

    /// Takes `k` permits that keep the semaphore alive instead of borrowing it. Waits like
    /// [`acquire`](Semaphore::acquire).
    ///
    /// # Errors
    /// Like [`acquire`](Semaphore::acquire).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    ///
    /// let doors = Arc::new(pirn::sync::Semaphore::new(2));
    /// let permit = doors.acquire_owned(1).unwrap();
    /// // Handed over to the fiber that does the work.
    /// let fiber = pirn::spawn(move || drop(permit));
    /// fiber.join().unwrap();
    /// assert_eq!(doors.available(), 2);
    /// ```
    #[doc(alias = "acquire_many_owned")]
    #[track_caller]
    pub fn acquire_owned(
        self: &Arc<Self>,
        k: usize,
    ) -> Result<OwnedPermit, AcquireError> {
        self.take(k, &Spec::interruptible(Reason::Semaphore))?;
        Ok(self.owned(k))
    }

    /// Takes `k` permits that keep the semaphore alive, if there are enough and no other request
    /// waits.
    ///
    /// Otherwise, or if the semaphore is closed, returns `None`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let doors = std::sync::Arc::new(pirn::sync::Semaphore::new(2));
    /// let permit = doors.try_acquire_owned(2);
    /// assert!(permit.is_some());
    /// assert!(doors.try_acquire_owned(1).is_none());
    /// ```
    #[doc(alias = "try_acquire_many_owned")]
    pub fn try_acquire_owned(self: &Arc<Self>, k: usize) -> Option<OwnedPermit> {
        point(Operation::TryAcquire, self.known_at());
        let taken = self.permits.lock().try_take(k);
        taken.then(|| self.owned(k))
    }

    /// Takes `k` permits if there are enough and no other request waits.
    ///
    /// Otherwise, or if the semaphore is closed, returns `None`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(2);
    /// let permit = doors.try_acquire(1);
    /// assert!(permit.is_some());
    /// assert!(doors.try_acquire(2).is_none());
    /// ```
    #[doc(alias = "try_acquire_many")]
    pub fn try_acquire(&self, k: usize) -> Option<Permit<'_>> {
        point(Operation::TryAcquire, self.known_at());
        let taken = self.permits.lock().try_take(k);
        taken.then(|| self.permit(k))
    }

    /// Takes `k` permits, waiting for at most `timeout`; returns `Ok(None)` if the time is up
    /// first.
    ///
    /// # Errors
    /// Like [`acquire`](Semaphore::acquire).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let doors = pirn::sync::Semaphore::new(1);
    /// let permit = doors.acquire(1)?;
    /// assert!(doors.acquire_timeout(1, Duration::from_millis(1))?.is_none());
    /// drop(permit);
    /// assert!(doors.acquire_timeout(1, Duration::from_millis(1))?.is_some());
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    #[track_caller]
    pub fn acquire_timeout(
        &self,
        k: usize,
        timeout: Duration,
    ) -> Result<Option<Permit<'_>>, AcquireError> {
        let spec = Spec::interruptible(Reason::Semaphore).until(deadline_in(timeout));
        let in_time = self.take(k, &spec)?;
        Ok(in_time.then(|| self.permit(k)))
    }

    /// Adds `k` permits, for waiting requests or for later ones.
    ///
    /// # Panics
    /// If there would be more than `isize::MAX`, including those that are taken; nothing has
    /// changed then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(0);
    /// pirn::scope(|s| {
    ///     let waiting = s.spawn(|| doors.acquire(2).map(drop));
    ///     doors.add(2);
    ///     assert_eq!(waiting.join().unwrap(), Ok(()));
    /// });
    /// assert_eq!(doors.available(), 2);
    /// ```
    #[doc(alias = "add_permits")]
    pub fn add(&self, k: usize) {
        point(Operation::Release, self.known_at());
        let added = Permits::add(&self.permits, k);
        assert!(added, "more than `isize::MAX` permits");
    }

    /// Removes up to `k` permits that are not taken, which reduces the semaphore's total; returns
    /// how many. Permits that waiting requests accumulate are removed too.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// let _permit = doors.try_acquire(1);
    /// assert_eq!(doors.forget_permits(5), 2);
    /// assert_eq!(doors.available(), 0);
    /// ```
    pub fn forget_permits(&self, k: usize) -> usize {
        point(Operation::TryAcquire, self.known_at());
        self.permits.lock().reduce(k)
    }

    /// Closes the semaphore: all present and later requests end with [`AcquireError::Closed`].
    /// Permits that are taken stay valid. Closing again has no effect.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::{AcquireError, Semaphore};
    ///
    /// let doors = Semaphore::new(0);
    /// pirn::scope(|s| {
    ///     let waiting = s.spawn(|| doors.acquire(1).map(drop));
    ///     doors.close();
    ///     assert_eq!(waiting.join().unwrap(), Err(AcquireError::Closed));
    /// });
    /// ```
    pub fn close(&self) {
        point(Operation::Close, self.known_at());
        Permits::close(&self.permits);
    }

    /// Returns true if the semaphore is closed.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(1);
    /// assert!(!doors.is_closed());
    /// doors.close();
    /// assert!(doors.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.permits.lock().is_closed()
    }

    /// Returns the number of permits that are not taken. The first waiting request may be
    /// accumulating them.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// let _permit = doors.acquire(2).unwrap();
    /// assert_eq!(doors.available(), 1);
    /// ```
    #[doc(alias = "available_permits")]
    pub fn available(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.permits.lock().free()
    }

    /// Takes `k` permits; returns false if the time is up first.
    #[track_caller]
    fn take(&self, k: usize, spec: &Spec) -> Result<bool, AcquireError> {
        consume_budget(Operation::Acquire, self.known_at());
        if let Some(interrupt) = interrupted() {
            return Err(AcquireError::Interrupted(interrupt));
        }
        match Permits::take(&self.permits, k, spec) {
            Ok(()) => Ok(true),
            Err(Denied::Closed) => Err(AcquireError::Closed),
            Err(Denied::Ended(how)) => match how.interrupt() {
                Some(interrupt) => Err(AcquireError::Interrupted(interrupt)),
                None => Ok(false),
            },
        }
    }

    fn permit(&self, count: usize) -> Permit<'_> {
        Permit {
            semaphore: self,
            count,
        }
    }

    fn owned(self: &Arc<Self>, count: usize) -> OwnedPermit {
        OwnedPermit {
            semaphore: Arc::clone(self),
            count,
        }
    }

    /// Returns permits when a guard is dropped.
    fn give(&self, count: usize) {
        point(Operation::Release, self.known_at());
        Permits::give(&self.permits, count);
    }

    /// Removes permits that will not be returned.
    fn write_off(&self, count: usize) {
        self.permits.lock().forget(count);
    }
}

impl Permit<'_> {
    /// Drops the guard without returning the permits, which reduces the semaphore's total.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// doors.acquire(1)?.forget();
    /// assert_eq!(doors.available(), 2);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn forget(mut self) {
        self.semaphore.write_off(self.count);
        self.count = 0;
    }

    /// Returns the number of permits that this guard stands for.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// assert_eq!(doors.acquire(2)?.num_permits(), 2);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn num_permits(&self) -> usize {
        self.count
    }

    /// Moves `n` of the permits to a new guard; returns `None` if there are fewer.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// let mut permit = doors.acquire(3)?;
    /// drop(permit.split(1));
    /// assert_eq!((permit.num_permits(), doors.available()), (2, 1));
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn split(&mut self, n: usize) -> Option<Self> {
        self.count = self.count.checked_sub(n)?;
        Some(self.semaphore.permit(n))
    }

    /// Moves the permits of `other` to this guard.
    ///
    /// # Panics
    /// If `other` is of another semaphore.
    ///
    /// # Examples
    /// ```
    /// let doors = pirn::sync::Semaphore::new(3);
    /// let mut permit = doors.acquire(1)?;
    /// permit.merge(doors.acquire(2)?);
    /// assert_eq!(permit.num_permits(), 3);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        let same = ptr::eq(self.semaphore, other.semaphore);
        assert!(same, "permits of two semaphores cannot be merged");
        self.count += mem::take(&mut other.count);
    }
}

impl OwnedPermit {
    /// Drops the guard without returning the permits, which reduces the semaphore's total.
    ///
    /// # Examples
    /// ```
    /// let doors = std::sync::Arc::new(pirn::sync::Semaphore::new(3));
    /// doors.acquire_owned(1)?.forget();
    /// assert_eq!(doors.available(), 2);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn forget(mut self) {
        self.semaphore.write_off(self.count);
        self.count = 0;
    }

    /// Returns the number of permits that this guard stands for.
    ///
    /// # Examples
    /// ```
    /// let doors = std::sync::Arc::new(pirn::sync::Semaphore::new(3));
    /// assert_eq!(doors.acquire_owned(2)?.num_permits(), 2);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn num_permits(&self) -> usize {
        self.count
    }

    /// Moves `n` of the permits to a new guard; returns `None` if there are fewer.
    ///
    /// # Examples
    /// ```
    /// let doors = std::sync::Arc::new(pirn::sync::Semaphore::new(3));
    /// let mut permit = doors.acquire_owned(3)?;
    /// drop(permit.split(1));
    /// assert_eq!((permit.num_permits(), doors.available()), (2, 1));
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    pub fn split(&mut self, n: usize) -> Option<Self> {
        self.count = self.count.checked_sub(n)?;
        Some(self.semaphore.owned(n))
    }

    /// Moves the permits of `other` to this guard.
    ///
    /// # Panics
    /// If `other` is of another semaphore.
    ///
    /// # Examples
    /// ```
    /// let doors = std::sync::Arc::new(pirn::sync::Semaphore::new(3));
    /// let mut permit = doors.acquire_owned(1)?;
    /// permit.merge(doors.acquire_owned(2)?);
    /// assert_eq!(permit.num_permits(), 3);
    /// # Ok::<(), pirn::sync::AcquireError>(())
    /// ```
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        let same = Arc::ptr_eq(&self.semaphore, &other.semaphore);
        assert!(same, "permits of two semaphores cannot be merged");
        self.count += mem::take(&mut other.count);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.give(self.count);
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        self.semaphore.give(self.count);
    }
}

/// A semaphore without permits.
impl Default for Semaphore {
    fn default() -> Self {
        Semaphore::new(0)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The writer is user code, which runs without the lock.
        let (available, closed) = {
            let permits = self.permits.lock();
            (permits.free(), permits.is_closed())
        };
        f.debug_struct("Semaphore")
            .field("available", &available)
            .field("closed", &closed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.count).finish()
    }
}

impl fmt::Debug for OwnedPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedPermit").field(&self.count).finish()
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquireError::Closed => f.write_str("the semaphore is closed"),
            AcquireError::Interrupted(interrupt) => interrupt.fmt(f),
        }
    }
}

impl Error for AcquireError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AcquireError::Closed => None,
            AcquireError::Interrupted(interrupt) => Some(interrupt),
        }
    }
}

/// Kind `BrokenPipe` if the semaphore is closed, else that of the [`Interrupt`].
impl From<AcquireError> for io::Error {
    fn from(error: AcquireError) -> io::Error {
        let kind = match error {
            AcquireError::Closed => io::ErrorKind::BrokenPipe,
            AcquireError::Interrupted(interrupt) => interrupt.kind(),
        };
        io::Error::new(kind, error)
    }
}
