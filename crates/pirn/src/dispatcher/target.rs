//! [`Dispatcher`]: a set of workers that fibers are sent to.
//!
//! Owns: moving a closure to another set of workers, within the dispatcher's bounds
//! (`active_limit`, `queue_bound`). Does not own: the pools (`pools`), nor how a pool runs its
//! fibers (`sched`).
//!
//! Invariants:
//! * DI1. A fiber's closure that was wrapped by [`Dispatcher::wrap`] is published by
//!   [`Dispatcher::publish`] of the same dispatcher, and nowhere else.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use super::active_limit::{self, ActiveLimit};
use super::pools::{self, Owned};
use super::queue_bound::QueueBound;
use crate::base::choice::Operation;
use crate::fiber::{FiberPtr, current, entry};
use crate::join::Fresh;
use crate::runtime::{Handle, Scheduler, visit};
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;
use crate::spawn::JoinHandle;
use crate::spawn::Unqueued;
use crate::wait::polling::refuse_in_poll;
use crate::wait::{self, point};

/// A set of workers to send fibers to; a clone refers to the same set and the same bounds.
///
/// A fiber stays where it has started, and fibers that it spawns by [`spawn`](crate::spawn()) start
/// there too. To do a part of the work elsewhere, [`run`](Self::run) a closure there and wait for
/// it.
///
/// A dispatcher made by [`new`](Self::new) or [`single`](Self::single) owns its threads. Handles
/// that [`limited`](Self::limited) and [`queue_limit`](Self::queue_limit) derive from it share
/// them. Dropping the last handle waits, without a limit, until every fiber of the dispatcher has
/// ended, and ends its threads. A fiber parks meanwhile, and a plain thread blocks. A fiber of the
/// dispatcher itself does not wait.
///
/// # Examples
/// ```
/// use pirn::dispatcher::Dispatcher;
///
/// let mut log = Vec::new();
/// pirn::run(|| {
///     let place = Dispatcher::io().run(|| {
///         log.push("may block its thread");
///         std::thread::current().name().map(str::to_owned)
///     });
///     assert!(place.unwrap().starts_with("pirn-io-"));
/// });
/// assert_eq!(log.len(), 1);
/// ```
#[doc(alias = "ThreadPool")]
#[derive(Clone)]
pub struct Dispatcher {
    place: Place,
    limit: Option<Arc<ActiveLimit>>,
    bound: Option<Arc<QueueBound>>,
}

/// The workers.
#[derive(Clone)]
enum Place {
    /// Workers that another owner ends.
    Lent(Arc<Pool>),
    Owned(Arc<Owned>),
    /// The caller's worker.
    Unconfined,
}

impl Dispatcher {
    /// Returns the dispatcher for calls that block their thread: each of its fibers has a thread to
    /// itself from its start to its end.
    ///
    /// At most 64 run at a time, or one for each core if there are more; others wait until one of
    /// these ends. So if all of them wait for a fiber that has not started, they wait indefinitely.
    /// A process has one such dispatcher. Its threads are created on demand and end after 10 s
    /// without work.
    ///
    /// # Panics
    /// If it has to be created and cannot be: see
    /// [`Builder::build`](crate::runtime::Builder::build).
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let bytes = Dispatcher::io().run(|| std::fs::read("/dev/null"));
    /// assert!(bytes?.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "spawn_blocking")]
    #[must_use]
    pub fn io() -> Dispatcher {
        Dispatcher::of(Place::Lent(pools::io()))
    }

    /// Creates a dispatcher with `workers` workers of its own, never more. Their threads have names
    /// that begin with `pirn-d` and a number.
    ///
    /// # Errors
    /// Like [`Builder::build`](crate::runtime::Builder::build); also if `workers` is 0 or more than
    /// a runtime can have.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let two = Dispatcher::new(2)?;
    /// let name = two.run(|| std::thread::current().name().map(str::to_owned));
    /// assert!(name.unwrap().starts_with("pirn-d"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ThreadPoolBuilder")]
    pub fn new(workers: usize) -> io::Result<Dispatcher> {
        let owned = Owned::new(workers, Scheduler::WorkStealing)?;
        Ok(Dispatcher::of(Place::Owned(Arc::new(owned))))
    }

    /// Creates a dispatcher with one thread of its own, on which fibers start in the order in which
    /// they were spawned.
    ///
    /// Two of its fibers never run at the same time, so each has exclusive use of their shared data
    /// between two waits. Use [`limited(1)`](Self::limited) if no other fiber may run while one
    /// waits.
    ///
    /// # Errors
    /// Like [`Builder::build`](crate::runtime::Builder::build).
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Examples
    /// ```
    /// use pirn::{dispatcher::Dispatcher, sync::Mutex};
    ///
    /// static ORDER: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    /// let one = Dispatcher::single()?;
    /// let fibers = [1, 2, 3].map(|n| one.spawn(move || ORDER.lock().push(n)));
    /// for fiber in fibers {
    ///     fiber.join().unwrap();
    /// }
    /// assert_eq!(*ORDER.lock(), [1, 2, 3]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "LocalSet")]
    pub fn single() -> io::Result<Dispatcher> {
        let owned = Owned::new(1, Scheduler::SingleQueue)?;
        Ok(Dispatcher::of(Place::Owned(Arc::new(owned))))
    }

    /// Returns the dispatcher for the caller's own worker.
    ///
    /// A fiber spawned here runs at once, until it first waits, and stays on that worker. The
    /// spawning fiber yields to it, as with [`yield_now`](crate::yield_now).
    ///
    /// On a plain thread, or if no stack is available for the new fiber, this is the dispatcher of
    /// the current runtime ([`Handle::current`]).
    ///
    /// # Examples
    /// ```
    /// use std::thread;
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// pirn::run(|| {
    ///     let fiber = Dispatcher::unconfined().spawn(|| thread::current().id());
    ///     assert_eq!(fiber.join().unwrap(), thread::current().id());
    /// });
    /// ```
    #[must_use]
    pub fn unconfined() -> Dispatcher {
        Dispatcher::of(Place::Unconfined)
    }

    /// Returns a dispatcher on the same workers that runs at most `most` of its fibers at a time.
    /// Its clones share the bound.
    ///
    /// A fiber counts from the time when it is given to the workers until it has ended, also while
    /// it waits. The others wait their turn and start in the order in which they came. So
    /// `limited(1)` runs one fiber after the other. If all fibers that have their turn wait for one
    /// that has not, they wait indefinitely. The bound does not apply to fibers that they spawn by
    /// [`spawn`](crate::spawn()), nor to the other half of a [`join`](crate::join()), the parts of a
    /// loop of [`par`](crate::par), and the function of [`compute`](crate::compute()): another fiber
    /// may run these, which has no turn, and waits for one if it calls [`run`](Self::run).
    ///
    /// A fiber that is cancelled while it waits for its turn does not run; but it ends, and its join
    /// returns, only when its turn comes.
    ///
    /// # Panics
    /// If `most` is 0, or on [`unconfined`](Self::unconfined).
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// static BUSY: AtomicBool = AtomicBool::new(false);
    /// let one = Dispatcher::io().limited(1);
    /// let fibers = [(); 3].map(|()| {
    ///     one.spawn(|| {
    ///         assert!(!BUSY.swap(true, Relaxed));
    ///         pirn::yield_now();
    ///         BUSY.store(false, Relaxed);
    ///     })
    /// });
    /// assert!(fibers.into_iter().all(|fiber| fiber.join().is_ok()));
    /// ```
    #[must_use]
    pub fn limited(&self, most: usize) -> Dispatcher {
        assert!(most > 0, "a dispatcher limited to 0 runs nothing");
        let Some(pool) = self.pool() else {
            panic!("an unconfined dispatcher cannot be limited: it queues nothing");
        };
        let limit = ActiveLimit::new(most, Arc::clone(pool), self.limit.clone());
        Dispatcher {
            limit: Some(Arc::new(limit)),
            ..self.clone()
        }
    }

    /// Returns a dispatcher on the same workers that has at most `most` fibers that have not
    /// started. Its clones share the bound.
    ///
    /// A further spawn waits until one of them has started: a fiber parks, a plain thread blocks.
    ///
    /// On [`unconfined`](Self::unconfined) nothing is queued and no call waits.
    ///
    /// # Panics
    /// If `most` is 0.
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let one = Dispatcher::new(1)?.queue_limit(2);
    /// // While two fibers are queued, `spawn` waits.
    /// let fibers: Vec<_> = (0..8).map(|n| one.spawn(move || n * n)).collect();
    /// let squares = fibers.into_iter().map(|fiber| fiber.join().unwrap());
    /// assert_eq!(squares.max(), Some(49));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn queue_limit(self, most: usize) -> Dispatcher {
        assert!(most > 0, "nothing passes a queue of 0");
        Dispatcher {
            bound: Some(Arc::new(QueueBound::new(most))),
            ..self
        }
    }

    /// Spawns a fiber that runs `f` here, and returns its handle.
    ///
    /// If the dispatcher's workers accept no more fibers (their runtime has been shut down), `f` is
    /// dropped and the handle joins as [`NotRun`](crate::spawn::JoinError::NotRun).
    ///
    /// # Panics
    /// If a runtime is needed ([`unconfined`](Self::unconfined) from a plain thread), there is none
    /// yet, and none can be created.
    ///
    /// # Cancellation
    /// Not an interruption point. Suspends if a [`queue_limit`](Self::queue_limit) is reached, and
    /// on [`unconfined`](Self::unconfined).
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let fiber = Dispatcher::io().spawn(|| std::fs::exists("/dev/null"));
    /// assert!(fiber.join().unwrap()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let location = Location::caller();
        let wrapped = self.wrap(f);
        let fresh = Fresh::new(current::local(), location, wrapped);
        let (fiber, joined) = fresh.into_parts();
        let handle = JoinHandle::new(joined);
        self.publish(fiber);
        handle
    }

    /// Runs `f` here, waits for it and returns its result.
    ///
    /// `f` may borrow. Only the closure moves: the calling fiber stays on its worker.
    ///
    /// On a fiber that already runs here, `f` is called directly.
    ///
    /// # Panics
    /// With the panic of `f`; if the dispatcher's workers accept no more fibers; like
    /// [`spawn`](Self::spawn); or in the start hook of the workers' runtime.
    ///
    /// # Cancellation
    /// Not an interruption point: returns only when `f` has ended. `f` runs under the caller's
    /// token and deadlines, as with [`Handle::run`]. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::Dispatcher;
    ///
    /// let mut log = Vec::new();
    /// Dispatcher::io().run(|| log.push("may block its thread"));
    /// assert_eq!(log, ["may block its thread"]);
    /// ```
    #[doc(alias = "install")]
    #[track_caller]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        if self.is_current() {
            return f();
        }
        let Some(pool) = self.pool() else {
            return Handle::current().run(f);
        };
        pool.refuse_in_start_hook();
        // Before `wrap`, which may wait for room in the queue.
        refuse_in_poll();
        visit(pool, self.wrap(f), &|fiber| self.publish(fiber))
    }

    /// Returns the closure of the fiber that runs `f`, with its place in the bounded queue. Waits
    /// while the queue is full. See DI1.
    #[track_caller]
    pub(crate) fn wrap<F, T>(&self, f: F) -> impl FnOnce() -> T + Send + use<F, T>
    where
        F: FnOnce() -> T + Send,
    {
        if self.limit.is_some() || self.bound.is_some() {
            point(Operation::Arrive, 0);
        }
        let slot = match (self.pool(), &self.bound) {
            (Some(pool), Some(bound)) => Some(bound.enter(!pool.is_current())),
            _ => None,
        };
        // Dropped in this order if it does not run: a destructor in `f` may need the slot.
        let started = (slot, f);
        move || {
            let (slot, f) = started;
            drop(slot);
            f()
        }
    }

    /// Submits a fresh fiber with a closure from [`wrap`](Self::wrap). If the workers refuse it, it
    /// is dropped unrun.
    pub(crate) fn publish(&self, fiber: FiberPtr) {
        let local = current::local();
        let Some(pool) = self.pool() else {
            return publish_unconfined(fiber);
        };
        if !enqueue::admit(pool, local) {
            entry::refuse(fiber);
            return;
        }
        let queued = match &self.limit {
            Some(limit) => active_limit::submit(limit, fiber),
            None => enqueue::queue(pool, local, fiber),
        };
        if let Err(fiber) = queued {
            entry::refuse(fiber);
        }
    }

    /// Returns true if a deadline of fibers of `pool` means the same here.
    pub(crate) fn keeps_time_of(&self, pool: &Pool) -> bool {
        self.pool().is_none_or(|own| own.keeps_time_of(pool))
    }

    pub(super) fn lent(pool: Arc<Pool>) -> Dispatcher {
        Dispatcher::of(Place::Lent(pool))
    }

    fn of(place: Place) -> Dispatcher {
        Dispatcher {
            place,
            limit: None,
            bound: None,
        }
    }

    /// Returns the pool; none if it is the caller's.
    fn pool(&self) -> Option<&Arc<Pool>> {
        match &self.place {
            Place::Lent(pool) => Some(pool),
            Place::Owned(owned) => Some(&owned.0),
            Place::Unconfined => None,
        }
    }

    /// Returns true if the caller is a fiber that runs here, within the same bounds.
    fn is_current(&self) -> bool {
        if current::local().fiber().is_none() {
            return false;
        }
        let here = self.pool().is_none_or(Pool::is_current);
        here && self.limit.as_ref().is_none_or(|limit| limit.is_current())
    }
}

/// The dispatcher of the process's default runtime.
impl Default for Dispatcher {
    /// # Panics
    /// If the default runtime has to be created and cannot be.
    fn default() -> Dispatcher {
        Handle::process_default().dispatcher()
    }
}

impl Handle {
    /// Returns the dispatcher for this runtime's workers.
    ///
    /// # Examples
    /// ```
    /// let here = pirn::runtime::Handle::current().dispatcher();
    /// assert_eq!(here.run(|| 6 * 7), 42);
    /// assert_eq!(here, pirn::dispatcher::Dispatcher::default());
    /// ```
    #[must_use]
    pub fn dispatcher(&self) -> Dispatcher {
        Dispatcher::of(Place::Lent(Arc::clone(self.pool())))
    }
}

/// Equal if both have the same workers and the same bounds.
impl PartialEq for Dispatcher {
    fn eq(&self, other: &Dispatcher) -> bool {
        fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
            one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
        }
        same(self.pool(), other.pool())
            && same(self.limit.as_ref(), other.limit.as_ref())
            && same(self.bound.as_ref(), other.bound.as_ref())
    }
}

impl Eq for Dispatcher {}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.pool().map_or("unconfined", |pool| pool.name());
        f.debug_struct("Dispatcher")
            .field("name", &name)
            .field("workers", &self.pool().map(|pool| pool.workers()))
            .finish_non_exhaustive()
    }
}

/// Spawns a fiber that runs `f` on `dispatcher`: [`Dispatcher::spawn`] as a function.
///
/// # Panics
/// Like [`Dispatcher::spawn`].
///
/// # Cancellation
/// Not an interruption point. Suspends where [`Dispatcher::spawn`] does.
///
/// # Examples
/// ```
/// use pirn::dispatcher::{Dispatcher, spawn_on};
///
/// let fiber = spawn_on(&Dispatcher::io(), || 6 * 7);
/// assert_eq!(fiber.join().unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn_on<F, T>(dispatcher: &Dispatcher, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    dispatcher.spawn(f)
}

/// Starts `fiber` on the caller's worker, and yields to it.
fn publish_unconfined(fiber: FiberPtr) {
    match enqueue::settle_here(current::local(), fiber) {
        Ok(()) => wait::yield_now(),
        Err(fiber) => {
            // Panics if there is no runtime and none can be created.
            let unqueued = Unqueued::new(fiber);
            let handle = Handle::current();
            handle.dispatcher().publish(unqueued.take());
        }
    }
}
