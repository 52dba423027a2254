//! Spawning: the plain function and the builder.

// Does not own: the builder's methods for fibers that may borrow (`scope::scoped`).

use std::mem;
use std::panic::Location;

use super::error::{Rejected, SpawnError};
use super::join::JoinHandle;
use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::fiber::entry;
use crate::fiber::header::Label;
use crate::join::Fresh;
use crate::runtime::Handle;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;

/// Spawns a fiber that runs `f` on the runtime of the calling fiber. On a plain thread it uses the
/// runtime that the thread has [entered](Handle::enter), else the default one.
///
/// The new fiber starts on any of the runtime's workers and stays on the one that started it
/// (unless fibers may [migrate](crate::guide::migration)). It inherits nothing from the caller. If
/// the runtime has been shut down, `f` is dropped and joining returns
/// [`NotRun`](super::JoinError::NotRun).
///
/// The line of code that calls `spawn` is the fiber's spawn line. Reports name it, and the history
/// of its fibers decides where later ones start ([`LineClass`](crate::diag::LineClass)). A function
/// that wraps `spawn` should have the attribute `#[track_caller]`. Without it, all fibers that the
/// function spawns share one line, and short ones start behind those that compute.
///
/// `f` is a closure, not a future. If it returns a future, as `|| async { … }` does, this future is
/// the result of the fiber, and is not polled. For an `async` block use
/// [`future::wait`](crate::future::wait) in the closure: `spawn(|| future::wait(async { … }))`. The
/// compiler's advice for `spawn(async { … })`, to wrap the block in a closure, is wrong here: the
/// result compiles, and the future is never polled. The advice comes with the trait `FnOnce` of the
/// standard library, and its message cannot name `future::wait`.
///
/// # Panics
/// If there is no runtime and the default one cannot be created (see
/// [`Runtime::new`](crate::Runtime::new)).
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let child = pirn::spawn(|| 6 * 7);
/// assert_eq!(child.join().unwrap(), 42);
///
/// let child = pirn::spawn(|| pirn::future::wait(async { 6 * 7 }).unwrap());
/// assert_eq!(child.join().unwrap(), 42);
/// ```
#[doc(alias = "go")]
#[doc(alias = "goroutine")]
#[doc(alias = "task")]
#[inline]
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_at(Location::caller(), f)
}

/// As [`spawn`], with `location` as the spawn line.
#[inline(always)]
pub(crate) fn spawn_at<F, T>(location: &'static Location<'static>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let local = current::local();
    let (fiber, joined) = Fresh::new(local, location, f).into_parts();
    let handle = JoinHandle::new(joined);
    publish(local, fiber);
    handle
}

impl Handle {
    /// Spawns a fiber on this runtime, as [`spawn`](crate::spawn()) does. If this runtime has been
    /// shut down, `f` is dropped and joining returns [`NotRun`](super::JoinError::NotRun).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    /// let fiber = runtime.handle().spawn(|| 6 * 7);
    /// assert_eq!(fiber.join().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let local = current::local();
        let fresh = Fresh::new(local, Location::caller(), f);
        let (fiber, joined) = fresh.into_parts();
        if let Err(fiber) = enqueue::spawn(self.pool(), local, fiber) {
            entry::refuse(fiber);
        }
        JoinHandle::new(joined)
    }
}

/// The largest stack that can be requested: a process has address space for a hundred.
const MOST_STACK: usize = 1 << 40;

/// A builder that sets the name, the stack size or the place of a fiber before it is spawned.
///
/// # Examples
/// ```
/// use pirn::spawn::Builder;
///
/// let fiber = Builder::new()
///     .name("parser")
///     .stack_size(256 * 1024)
///     .spawn(|| "7".parse::<u32>())
///     .unwrap();
/// assert_eq!(fiber.fiber().name(), Some("parser"));
/// assert_eq!(fiber.join().unwrap(), Ok(7));
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Builder {
    label: Label,
    /// Whether to start on a thread apart from the workers. `None`: the history of the spawn line
    /// decides.
    apart: Option<bool>,
}

impl Builder {
    /// Returns a builder with default settings.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// let fiber = Builder::new().spawn(|| 7).unwrap();
    /// assert_eq!(fiber.fiber().name(), None);
    /// assert_eq!(fiber.join().unwrap(), 7);
    /// ```
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the fiber's name in reports, such as those of a stack overflow or of a shutdown that
    /// had to leave the fiber.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// for name in ["reader", "writer"] {
    ///     let fiber = Builder::new().name(name).spawn(|| ()).unwrap();
    ///     assert_eq!(fiber.fiber().name(), Some(name));
    /// }
    /// let fiber = Builder::new().name(format!("reader {}", 7)).spawn(|| ()).unwrap();
    /// assert_eq!(fiber.fiber().name(), Some("reader 7"));
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.label.name = Some(name.into());
        self
    }

    /// Sets the least size of the fiber's stack, in `bytes`, in place of its runtime's default; at
    /// most 1 TiB. If the runtime has no stack of that size and the system refuses the memory, the
    /// spawn fails. If the runtime has such stacks in use, the fiber waits until one becomes
    /// available.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// fn depth(n: u32) -> u32 {
    ///     if n == 0 { 0 } else { 1 + depth(n - 1) }
    /// }
    ///
    /// let fiber = Builder::new().stack_size(4 << 20).spawn(|| depth(10_000)).unwrap();
    /// assert_eq!(fiber.join().unwrap(), 10_000);
    /// ```
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.label.stack_size = Some(bytes);
        self
    }

    /// Sets whether the fiber starts on a thread apart from the runtime's workers. Only long
    /// computations start there, so no fiber of the workers waits behind it. There are normally at
    /// most as many such threads as workers; a fiber stays on its thread. If the runtime has [no
    /// threads to add](crate::runtime::Builder::max_threads), it starts on a worker.
    ///
    /// With `false` it starts on the worker that finds it first. Without this call, the history of
    /// its spawn line decides ([`LineClass`](crate::diag::LineClass)).
    ///
    /// For a single long computation, [`compute`](crate::compute) does the same and waits for the
    /// result.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// let fiber = Builder::new().apart(true).spawn(|| (1..=10).product::<u32>()).unwrap();
    /// assert_eq!(fiber.join().unwrap(), 3_628_800);
    /// ```
    #[doc(alias = "spawn_blocking")]
    pub fn apart(mut self, apart: bool) -> Builder {
        self.apart = Some(apart);
        self
    }

    /// Returns the requested place of start, if there is one.
    pub(crate) fn placement(&self) -> Option<bool> {
        self.apart
    }

    /// Spawns the fiber, as [`spawn`] does.
    ///
    /// # Errors
    /// Returns `f` if the runtime has been shut down, or the system has no memory for a stack of
    /// the requested [size](Self::stack_size).
    ///
    /// # Panics
    /// If there is no runtime and the default one cannot be created.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::{Builder, Rejected};
    ///
    /// let fiber = Builder::new().spawn(|| 7).unwrap();
    /// assert_eq!(fiber.join().unwrap(), 7);
    ///
    /// let error = Builder::new().stack_size(usize::MAX).spawn(|| 7).unwrap_err();
    /// assert_eq!(error.reason(), Rejected::OutOfMemory);
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_fresh(f, Fresh::new)
    }

    /// As [`spawn`](Builder::spawn), for the fiber that `fresh` makes of `f`.
    #[track_caller]
    pub(crate) fn spawn_fresh<F, T>(
        self,
        f: F,
        fresh: impl FnOnce(&Local, &'static Location<'static>, F) -> Fresh<F, T>,
    ) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let local = current::local();
        // First, because it panics if no runtime can be created, and `f` is dropped then.
        let outside = enqueue::pool_of(local).is_none().then(Handle::current);
        let pool = outside.as_ref().map(Handle::pool);
        let pool = pool.or_else(|| enqueue::pool_of(local));
        if pool.is_some_and(|pool| self.asks_too_much(pool)) {
            return Err(SpawnError::new(f, Rejected::OutOfMemory));
        }
        let placement = self.apart;
        let fresh = fresh(local, Location::caller(), f);
        self.label(&fresh);
        let queued = fresh.publish(|fiber| match (outside, placement) {
            (None, None) => enqueue::spawn_here(local, fiber),
            (None, Some(apart)) => enqueue::spawn_placed_here(local, fiber, apart),
            (Some(handle), None) => enqueue::spawn(handle.pool(), local, fiber),
            (Some(handle), Some(apart)) => {
                enqueue::spawn_placed(handle.pool(), local, fiber, apart)
            }
        });
        match queued {
            Ok(joined) => Ok(JoinHandle::new(joined)),
            Err(f) => Err(SpawnError::new(f, Rejected::ShutDown)),
        }
    }

    /// Returns true if `pool` has no stack of that size and the system provides none.
    pub(crate) fn asks_too_much(&self, pool: &Pool) -> bool {
        self.label
            .stack_size
            .is_some_and(|bytes| bytes > MOST_STACK || !pool.can_give(bytes))
    }

    /// Gives `fresh` the name and the size of this builder.
    #[inline]
    pub(crate) fn label<F: FnOnce() -> T, T>(self, fresh: &Fresh<F, T>) {
        if self.label.name.is_some() || self.label.stack_size.is_some() {
            // H2: the fiber is not published yet.
            fresh.ptr().header().set_label(self.label);
        }
    }
}

/// Queues a fresh fiber in the caller's queue; a rejected one is dropped unrun.
#[inline]
fn publish(local: &Local, fiber: FiberPtr) {
    if let Err(fiber) = enqueue::spawn_here(local, fiber) {
        publish_from_outside(local, fiber);
    }
}

#[cold]
fn publish_from_outside(local: &Local, fiber: FiberPtr) {
    let unqueued = Unqueued::new(fiber);
    // Panics if there is no runtime and none can be created.
    let handle = Handle::current();
    let fiber = unqueued.take();
    if let Err(fiber) = enqueue::spawn(handle.pool(), local, fiber) {
        entry::refuse(fiber);
    }
}

/// A fiber that is in no queue yet; dropping this rejects it.
pub(crate) struct Unqueued(FiberPtr);

impl Unqueued {
    pub(crate) fn new(fiber: FiberPtr) -> Unqueued {
        Unqueued(fiber)
    }

    pub(crate) fn take(self) -> FiberPtr {
        mem::ManuallyDrop::new(self).0
    }
}

impl Drop for Unqueued {
    fn drop(&mut self) {
        entry::refuse(self.0);
    }
}
