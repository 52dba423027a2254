//! Handles: how threads and fibers reach a runtime.

use std::cell::RefCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use super::global;
use crate::fiber::region::InForce;
use crate::fiber::{FiberPtr, current, entry};
use crate::join::{JoinError, Joined};
use crate::sched::place;
use crate::sched::pool::Pool;
use crate::sched::seeded::outside;
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Interrupt, Reason, Spec, limit};

/// A reference to a runtime. Cheap to clone; does not keep the runtime from ending.
#[derive(Clone)]
pub struct Handle {
    pool: Arc<Pool>,
}

std::thread_local! {
    /// The runtimes that this thread has entered, innermost last. Never dropped, so destructors of
    /// other thread-locals and handlers of `atexit` can use the library; no room is kept
    /// while the list is empty, so nothing leaks.
    static ENTERED: ManuallyDrop<RefCell<Vec<Handle>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Runs `f` on a fiber and returns its result: at once on the calling fiber, if there is one;
/// from a plain thread, which waits, on a fiber of the current runtime (see
/// [`Handle::current`]), whose thread-locals `f` then sees.
///
/// # Panics
/// With the panic of `f`; or if there is no runtime and none can be made; or, on a plain
/// thread, if the runtime has been shut down.
///
/// # Cancellation
/// Not an interruption point: `f` may borrow, so this returns only when it has ended. Blocks
/// a plain thread.
///
/// ```
/// let mut sum = 0;
/// pirn::run(|| {
///     let half = pirn::spawn(|| (1..=50).sum::<i32>());
///     sum = (51..=100).sum::<i32>() + half.join().unwrap();
/// });
/// assert_eq!(sum, 5050);
/// ```
#[track_caller]
pub fn run<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    if current::local().fiber().is_some() {
        return f();
    }
    Handle::current().run(f)
}

impl Handle {
    pub(crate) fn of(pool: Arc<Pool>) -> Handle {
        Handle { pool }
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The runtime of the calling fiber; else the one that the thread has entered; else the
    /// default one, made now if need be.
    ///
    /// # Panics
    /// If the default runtime has to be made and cannot be.
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        Handle::try_current().unwrap_or_else(global::handle)
    }

    /// As [`current`](Self::current), without the default.
    #[must_use]
    pub fn try_current() -> Option<Handle> {
        match place::pool_of(current::local()) {
            Some(pool) => Some(Handle::of(Arc::clone(pool))),
            None => ENTERED.with(|entered| entered.borrow().last().cloned()),
        }
    }

    /// Runs `f` on a fiber of this runtime and returns its result. Blocks a plain thread,
    /// parks a fiber of another runtime, and on a fiber of this one calls `f` at once.
    ///
    /// `f` is under the caller's token and deadlines (deadlines only if both go by the same
    /// clock), but runs even if the caller has been cancelled.
    ///
    /// # Panics
    /// With the panic of `f`, or if the runtime has been shut down before `f` could start
    /// (not on a fiber of this runtime), or in this runtime's
    /// [`on_thread_start`](super::Builder::on_thread_start) hook.
    ///
    /// # Cancellation
    /// Not an interruption point: `f` may borrow, so this returns only when it has ended.
    /// Parks a fiber of another runtime, blocks a plain thread.
    #[track_caller]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let local = current::local();
        if local.fiber().is_some() && self.pool.is_current() {
            return f();
        }
        self.pool.refuse_in_start_hook();
        if self.pool.is_by_hand() {
            // Who is not bound waits for the thread that is.
            let _ = self.pool.bind();
        }
        visit(&self.pool, f, |fiber| {
            if let Err(fiber) = place::spawn(&self.pool, current::local(), fiber) {
                entry::refuse(fiber);
            }
        })
    }

    /// Has `f`, and what it calls on this thread, use this runtime where no fiber says
    /// otherwise.
    ///
    /// # Panics
    /// With the panic of `f`.
    pub fn enter<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                // Dropped outside of the borrow: it may be the runtime's last reference.
                let left = ENTERED.with(|entered| {
                    let mut entered = entered.borrow_mut();
                    let left = entered.pop();
                    if entered.is_empty() {
                        *entered = Vec::new();
                    }
                    left
                });
                drop(left);
            }
        }
        if current::local().fiber().is_some() {
            // Its runtime comes first, and it may leave the thread.
            return f();
        }
        ENTERED.with(|entered| entered.borrow_mut().push(self.clone()));
        let _leave = Leave;
        f()
    }

    /// Waits until no fiber of this runtime is left but those that wait here. While
    /// one of them waits for the caller in another way, it ends only by an interrupt.
    ///
    /// # Errors
    /// The interrupt that the caller is under. `Ok` all the same if no fiber is left.
    ///
    /// # Panics
    /// In this runtime's [`on_thread_start`](super::Builder::on_thread_start) hook.
    ///
    /// # Cancellation
    /// An interruption point, but not if no fiber is left. Parks a fiber, blocks a plain
    /// thread.
    #[track_caller]
    pub fn wait_idle(&self) -> Result<(), Interrupt> {
        self.pool.wait_idle().interrupt().map_or(Ok(()), Err)
    }
}

/// Runs `f` on a fiber that `publish` has queued in `pool`, or refused; waits for it and
/// returns its result.
///
/// # Panics
/// With the panic of `f`, or if the fiber was refused.
#[track_caller]
pub(crate) fn visit<F, T>(pool: &Arc<Pool>, f: F, publish: impl FnOnce(FiberPtr)) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // What `f` borrows hangs on the wait below, so nothing is handed out that could not be.
    refuse_in_poll();
    let local = current::local();
    // SAFETY: what `f` borrows outlives the wait below, which nothing ends but the end
    // of the fiber.
    let fiber = unsafe { entry::fresh(local, Location::caller(), f) };
    if let Some(outer) = limit::in_force() {
        let inherited = InForce::of(outer);
        // SAFETY: H1, H2: not published yet.
        let header = unsafe { fiber.as_ref() };
        // RG1: the wait below ends after the fiber.
        header.region.set(match pool.shares_clock(local) {
            true => inherited,
            false => inherited.untimed(),
        });
        // `f` is run though the caller be cancelled, as it would be if it were called here.
        header.marks.set_obliged(true);
    }
    publish(fiber);
    // SAFETY: J1: the handle's reference, of result type `T`.
    let joined = unsafe { Joined::<T>::new(fiber) };
    pool.drive_if_bound(&|| joined.is_finished());
    let spec = Spec::of(Reason::Run).at(Location::caller());
    // What `f` borrows hangs on this wait, so it rests on the outcome, not on the wake.
    while !joined.is_finished() {
        let _ = outside(|| joined.wait_anywhere(&spec));
    }
    match joined.take() {
        Ok(value) => value,
        Err(JoinError::Panicked(payload)) => resume_unwind(payload.into_inner()),
        Err(_) => panic!("the runtime has been shut down"),
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("name", &self.pool.name())
            .field("workers", &self.pool.workers())
            .finish_non_exhaustive()
    }
}
