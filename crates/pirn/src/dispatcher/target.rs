//! [`Dispatcher`]: where fibers are sent to run.
//!
//! Owns: the way of a closure to another set of workers, by way of the dispatcher's bounds
//! (`line`, `room`). Does not own: the pools (`pools`), nor how a pool runs what it is given
//! (`sched`).
//!
//! Invariants:
//! * DI1. A fiber's closure that was wrapped by [`Dispatcher::wrap`] is published by
//!   [`Dispatcher::publish`] of the same dispatcher, and nowhere else.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use super::line::{Line, Turn};
use super::pools::{self, Owned};
use super::room::{Room, Seat};
use crate::fiber::{FiberPtr, current, entry};
use crate::runtime::{Handle, Scheduler, visit};
use crate::sched::place;
use crate::sched::pool::Pool;
use crate::spawn::JoinHandle;
use crate::spawn::Unqueued;
use crate::wait;

/// A set of workers to send fibers to. Cheap to clone.
///
/// A fiber stays where it has started, and what it spawns by [`spawn`](crate::spawn())
/// starts there too. So to do a part of one's work elsewhere is to [`run`](Self::run) a closure
/// there and wait for it.
///
/// A dispatcher made by [`new`](Self::new) or [`single`](Self::single) owns its threads. When
/// the last handle to it is dropped (those that [`limited`](Self::limited) and
/// [`queue_limit`](Self::queue_limit) made of it included), every fiber of it runs to its end
/// and its threads end. Whoever drops that handle waits for this without a limit: a fiber
/// parks, a plain thread blocks; a fiber of the dispatcher itself goes on at once.
///
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
#[derive(Clone)]
pub struct Dispatcher {
    place: Place,
    line: Option<Arc<Line>>,
    room: Option<Arc<Room>>,
}

/// Whose workers they are.
#[derive(Clone)]
enum Place {
    /// Somebody else's, who ends them.
    Lent(Arc<Pool>),
    Owned(Arc<Owned>),
    /// The caller's.
    Unconfined,
}

/// What a fiber holds of its dispatcher's bounds before it starts.
struct Admission {
    seat: Option<Seat>,
    turn: Option<Turn>,
}

impl Dispatcher {
    /// A dispatcher for calls that block their thread: each of its fibers has a thread to
    /// itself from its start to its end.
    ///
    /// At most 64 at a time, or one for each core if there are more; others wait for one of
    /// these to end. So if all of these wait for one that has not started, they wait for ever. There is one in a process. Its threads are made when they are needed and
    /// end after 10 s without work.
    ///
    /// # Panics
    /// If it has to be made and cannot be: see [`Builder::build`](crate::runtime::Builder::build).
    #[must_use]
    pub fn io() -> Dispatcher {
        Dispatcher::of(Place::Lent(pools::io()))
    }

    /// A dispatcher with `workers` workers of its own, never more. Their threads are named
    /// `pirn-d`, a number, and another one.
    ///
    /// # Errors
    /// Like [`Builder::build`](crate::runtime::Builder::build), also for a number of workers that
    /// no runtime can have, and for 0.
    pub fn new(workers: usize) -> io::Result<Dispatcher> {
        let owned = Owned::new(workers, Scheduler::WorkStealing)?;
        Ok(Dispatcher::of(Place::Owned(Arc::new(owned))))
    }

    /// A dispatcher with one thread of its own, on which fibers start in the order in which
    /// they were spawned.
    ///
    /// Two of its fibers never run at the same moment, so between two waits each has what they
    /// share to itself. If no other shall run while one waits, use
    /// [`limited(1)`](Self::limited).
    ///
    /// # Errors
    /// Like [`Builder::build`](crate::runtime::Builder::build).
    pub fn single() -> io::Result<Dispatcher> {
        let owned = Owned::new(1, Scheduler::SingleQueue)?;
        Ok(Dispatcher::of(Place::Owned(Arc::new(owned))))
    }

    /// The caller's own worker: what is spawned here runs at once, until it first waits, and
    /// stays on that worker. The spawner gives way to it, as by
    /// [`yield_now`](crate::yield_now).
    ///
    /// On a plain thread, and where there is no stack for the new fiber, it is the
    /// dispatcher of the current runtime ([`Handle::current`]).
    #[must_use]
    pub fn unconfined() -> Dispatcher {
        Dispatcher::of(Place::Unconfined)
    }

    /// The same workers, for at most `most` fibers at a time of those that are sent through
    /// what this returns (its clones share the bound).
    ///
    /// A fiber counts from when it is given to the workers until it has ended: while it waits
    /// to be started, while it runs, and also while it waits for something. The others wait their
    /// turn and start in the order in which they came. So `limited(1)` runs one fiber after
    /// the other; and if all that have their turn wait for one that has not, they wait for
    /// ever. Fibers that they spawn by [`spawn`](crate::spawn()) are not bound by this.
    ///
    /// # Panics
    /// If `most` is 0, or on [`unconfined`](Self::unconfined).
    #[must_use]
    pub fn limited(&self, most: usize) -> Dispatcher {
        assert!(most > 0, "a dispatcher limited to 0 runs nothing");
        let Some(pool) = self.pool() else {
            panic!("what starts at once cannot be limited");
        };
        let line = Line::new(most, Arc::clone(pool), self.line.clone());
        Dispatcher {
            line: Some(Arc::new(line)),
            ..self.clone()
        }
    }

    /// The same workers, for at most `most` fibers that were sent through what this returns
    /// (or its clones) and have not started. Whoever sends one more waits until one of
    /// them has: a fiber parks, a plain thread blocks.
    ///
    /// On [`unconfined`](Self::unconfined) nothing is queued and nobody waits.
    ///
    /// # Panics
    /// If `most` is 0.
    #[must_use]
    pub fn queue_limit(self, most: usize) -> Dispatcher {
        assert!(most > 0, "nothing passes a queue of 0");
        Dispatcher {
            room: Some(Arc::new(Room::new(most))),
            ..self
        }
    }

    /// Spawns a fiber that runs `f` here. If the dispatcher's workers take no fibers any more
    /// (their runtime has been shut down), `f` is dropped and the handle joins as
    /// [`NotRun`](crate::spawn::JoinError::NotRun).
    ///
    /// # Panics
    /// If there is no runtime yet, one is needed ([`unconfined`](Self::unconfined) from a plain
    /// thread), and none can be made.
    ///
    /// # Cancellation
    /// Not an interruption point. Suspends where a [`queue_limit`](Self::queue_limit) is
    /// reached, and on [`unconfined`](Self::unconfined).
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let location = Location::caller();
        let wrapped = self.wrap(f);
        // SAFETY: `F` and `T` are `Send` and borrow nothing.
        let fiber = unsafe { entry::fresh(current::local(), location, wrapped) };
        // SAFETY: J1: the handle's reference, of result type `T`.
        let handle = unsafe { JoinHandle::new(fiber) };
        self.publish(fiber);
        handle
    }

    /// Runs `f` here, waits for it and returns its result. `f` may borrow. What moves is the
    /// closure: the calling fiber stays on its worker.
    ///
    /// On a fiber that is here already `f` is called at once.
    ///
    /// # Panics
    /// With the panic of `f`; or if the dispatcher's workers take no fibers any more; or as
    /// [`spawn`](Self::spawn); or in the start hook of the runtime whose workers these are.
    ///
    /// # Cancellation
    /// Not an interruption point: returns only when `f` has ended. Parks a fiber, blocks a
    /// plain thread.
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
        visit(pool, self.wrap(f), |fiber| self.publish(fiber))
    }

    /// What the fiber of `f` runs: `f`, with the dispatcher's bounds observed. Waits where the
    /// queue is full. See DI1.
    pub(crate) fn wrap<F, T>(&self, f: F) -> impl FnOnce() -> T + Send + use<F, T>
    where
        F: FnOnce() -> T + Send,
    {
        let seat = match (self.pool(), &self.room) {
            (Some(pool), Some(room)) => Some(room.enter(!pool.is_current())),
            _ => None,
        };
        let turn = self.line.as_ref().map(Turn::new);
        let admission = Admission { seat, turn };
        move || {
            admission.begin();
            f()
        }
    }

    /// Has a fresh fiber run here, whose closure comes from [`wrap`](Self::wrap). One that
    /// the workers do not take is dropped unrun.
    pub(crate) fn publish(&self, fiber: FiberPtr) {
        let local = current::local();
        let Some(pool) = self.pool() else {
            return publish_unconfined(fiber);
        };
        if !place::admit(pool, local) {
            if let Some(line) = &self.line {
                line.submit_none();
            }
            entry::refuse(fiber);
            return;
        }
        match &self.line {
            Some(line) => line.submit(fiber),
            None => place::queue(pool, local, fiber),
        }
    }

    /// Whether a deadline of fibers of `pool` means the same here.
    pub(crate) fn keeps_time_of(&self, pool: &Pool) -> bool {
        self.pool().is_none_or(|own| own.keeps_time_of(pool))
    }

    pub(super) fn lent(pool: Arc<Pool>) -> Dispatcher {
        Dispatcher::of(Place::Lent(pool))
    }

    fn of(place: Place) -> Dispatcher {
        Dispatcher {
            place,
            line: None,
            room: None,
        }
    }

    /// None if it is the caller's.
    fn pool(&self) -> Option<&Arc<Pool>> {
        match &self.place {
            Place::Lent(pool) => Some(pool),
            Place::Owned(owned) => Some(&owned.0),
            Place::Unconfined => None,
        }
    }

    /// Whether the caller is a fiber that runs here, within the same bounds.
    fn is_current(&self) -> bool {
        if current::local().fiber().is_none() {
            return false;
        }
        let here = self.pool().is_none_or(Pool::is_current);
        here && self.line.as_ref().is_none_or(|line| line.is_current())
    }
}

/// The dispatcher of the process's default runtime.
impl Default for Dispatcher {
    /// # Panics
    /// If the default runtime has to be made and cannot be.
    fn default() -> Dispatcher {
        Handle::process_default().dispatcher()
    }
}

impl Handle {
    /// The dispatcher whose workers are this runtime's.
    #[must_use]
    pub fn dispatcher(&self) -> Dispatcher {
        Dispatcher::of(Place::Lent(Arc::clone(self.pool())))
    }
}

/// Equal if they are the same workers under the same bounds.
impl PartialEq for Dispatcher {
    fn eq(&self, other: &Dispatcher) -> bool {
        fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
            one.map(Arc::as_ptr) == other.map(Arc::as_ptr)
        }
        same(self.pool(), other.pool())
            && same(self.line.as_ref(), other.line.as_ref())
            && same(self.room.as_ref(), other.room.as_ref())
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

impl Admission {
    /// On the fiber, before anything else of its.
    fn begin(self) {
        drop(self.seat);
        if let Some(turn) = self.turn {
            turn.keep();
        }
    }
}

/// Spawns a fiber on `dispatcher`, as [`Dispatcher::spawn`].
///
/// # Panics
/// Like [`Dispatcher::spawn`].
///
/// # Cancellation
/// Like [`Dispatcher::spawn`].
#[track_caller]
pub fn spawn_on<F, T>(dispatcher: &Dispatcher, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    dispatcher.spawn(f)
}

/// Starts `fiber` on the caller's worker, and gives way to it.
fn publish_unconfined(fiber: FiberPtr) {
    match place::settle_here(current::local(), fiber) {
        Ok(()) => wait::yield_now(),
        Err(fiber) => {
            // Panics if there is no runtime and none can be made.
            let unqueued = Unqueued::new(fiber);
            let handle = Handle::current();
            handle.dispatcher().publish(unqueued.take());
        }
    }
}
