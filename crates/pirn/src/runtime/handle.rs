//! Handles: access to a runtime for threads and fibers.

use std::cell::RefCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use crate::base::choice::Operation;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::{FiberPtr, current, entry};
use crate::join::{Fiber, JoinError, call_on_fiber, wait_anywhere};
use crate::sched::deterministic::draw::outside;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;
use crate::wait::point;
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Interrupt, Reason, Spec, deadline};

/// A reference to a runtime. It is cheap to clone and does not keep the runtime from ending.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::new()?;
/// let handle = runtime.handle();
/// let thread = std::thread::spawn(move || handle.spawn(|| 7).join().unwrap());
/// assert_eq!(thread.join().unwrap(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    pool: Arc<Pool>,
}

std::thread_local! {
    /// The runtimes that this thread has entered, innermost last. Never dropped, so that
    /// destructors of other thread-locals and handlers of `atexit` can use the library. An empty
    /// list has no allocation, so nothing leaks.
    static ENTERED: ManuallyDrop<RefCell<Vec<Handle>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

impl Handle {
    pub(crate) fn of(pool: Arc<Pool>) -> Handle {
        Handle { pool }
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Returns the runtime of the calling fiber; else the one that the thread has entered; else the
    /// one in the start hook of which the thread is; else `None`, also if there is a default one.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Handle;
    ///
    /// assert!(Handle::try_current().is_none());
    /// assert!(pirn::run(Handle::try_current).is_some());
    /// ```
    #[must_use]
    pub fn try_current() -> Option<Handle> {
        match enqueue::pool_of(current::local()) {
            Some(pool) => Some(Handle::of(Arc::clone(pool))),
            None => {
                let entered = ENTERED.with(|entered| entered.borrow().last().cloned());
                entered
                    .or_else(|| enqueue::starting_pool(current::local()).map(Handle::of))
            }
        }
    }

    /// Runs `f` on a fiber of this runtime and returns its result. Blocks a plain thread and parks
    /// a fiber of another runtime; a fiber of this runtime calls `f` directly.
    ///
    /// `f` runs under the caller's token and deadlines (deadlines only if both use the same clock).
    /// It runs even if the caller has been cancelled.
    ///
    /// # Panics
    /// With the panic of `f`. Except on a fiber of this runtime, also if the runtime has been shut
    /// down before `f` could start, in this runtime's
    /// [`on_thread_start`](super::Builder::on_thread_start) hook, and inside the
    /// [poll](crate::future#inside-a-poll) of a future on a fiber.
    ///
    /// # Cancellation
    /// Not an interruption point: `f` may borrow, so this returns only when it has ended.
    /// Parks a fiber of another runtime, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(2).build()?;
    /// let words = ["one", "two"];
    /// let len = runtime.run(|| words.iter().map(|word| word.len()).sum::<usize>());
    /// assert_eq!(len, 6);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "block_on")]
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
        refuse_in_poll();
        if self.pool.is_by_hand() {
            // A thread that is not bound waits for the bound one.
            let _ = self.pool.bind();
        }
        visit(&self.pool, f, &|fiber| self.publish(fiber))
    }

    fn publish(&self, fiber: FiberPtr) {
        if let Err(fiber) = enqueue::spawn(&self.pool, current::local(), fiber) {
            entry::refuse(fiber);
        }
    }

    /// Runs `f` with this runtime as the current one of this thread. On a fiber, the fiber's
    /// runtime takes precedence.
    ///
    /// # Panics
    /// With the panic of `f`.
    ///
    /// # Cancellation
    /// Not an interruption point itself; suspends only if `f` does.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Handle;
    ///
    /// let runtime = pirn::Runtime::builder().workers(3).build()?;
    /// let fiber = runtime.enter(|| pirn::spawn(|| Handle::current().workers()));
    /// assert_eq!(fiber.join().unwrap(), 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enter<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                // Dropped outside of the borrow, because it may be the runtime's last reference.
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
            // The fiber's runtime takes precedence, and the fiber may leave the thread.
            return f();
        }
        ENTERED.with(|entered| entered.borrow_mut().push(self.clone()));
        let _leave = Leave;
        f()
    }

    /// Waits until this runtime has no fibers except those that wait here. If a fiber
    /// waits for the caller in another way, only an interrupt ends the call.
    ///
    /// # Errors
    /// The interrupt of the caller. It returns `Ok` even then if no fiber is left.
    ///
    /// # Panics
    /// In this runtime's [`on_thread_start`](super::Builder::on_thread_start) hook, and inside the
    /// [poll](crate::future#inside-a-poll) of a future on a fiber.
    ///
    /// # Cancellation
    /// An interruption point, but not if no fiber is left. Parks a fiber, blocks a plain
    /// thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::new()?;
    /// let (tx, rx) = pirn::channel::unbounded();
    /// for n in 0..4 {
    ///     let tx = tx.clone();
    ///     drop(runtime.spawn(move || tx.send(n)));
    /// }
    /// assert_eq!(runtime.wait_idle(), Ok(()));
    /// assert_eq!(rx.len(), 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn wait_idle(&self) -> Result<(), Interrupt> {
        self.pool.wait_idle().interrupt().map_or(Ok(()), Err)
    }
}

/// Runs `f` on a fiber that `publish` has queued in `pool`, or rejected; waits for it and returns
/// its result.
///
/// # Panics
/// With the panic of `f`, or if the fiber was rejected.
#[track_caller]
pub(crate) fn visit<F, T>(pool: &Arc<Pool>, f: F, publish: &dyn Fn(FiberPtr)) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // The borrows of `f` depend on the wait below, so no fiber must be published that could not be
    // waited for.
    refuse_in_poll();
    let local = current::local();
    let begin = |fiber: FiberPtr, end: &Fiber| begin(pool, fiber, end, publish);
    let location = Location::caller();
    let wait = |fiber: &Fiber| wait(pool, fiber, location);
    // Read again: a callback of a token that `tokened` has created may have waited.
    let call = || call_on_fiber(current::local(), location, f, &begin, &wait);
    let ended = match local.fiber() {
        None => call(),
        // A region of its own, so that the runtime's token and the caller's own cancellation are
        // inherited too.
        Some(caller) => {
            let root = enqueue::pool_of(local).map(|pool| pool.root());
            let region = CancelScope::tokened(caller, root);
            deadline::within(caller, &region, call)
        }
    };
    match ended {
        Ok(value) => value,
        Err(JoinError::Panicked(payload)) => resume_unwind(payload.into_inner()),
        Err(_) => panic!("the runtime has been shut down"),
    }
}

fn begin(pool: &Arc<Pool>, fiber: FiberPtr, end: &Fiber, publish: &dyn Fn(FiberPtr)) {
    if let Some(outer) = deadline::in_force() {
        // H2: not published yet.
        let header = fiber.header();
        // RG1: the caller waits until the fiber has ended.
        header.inherit_scope(outer);
        if !pool.shares_clock(current::local()) {
            header.set_scope(header.scope().untimed());
        }
        // The closure runs even if the caller is cancelled, as it would if it were called here.
        header.flags.set_must_run(true);
    }
    publish(fiber);
    pool.drive_if_bound(&|| end.is_finished());
}

fn wait(pool: &Arc<Pool>, fiber: &Fiber, location: &'static Location<'static>) {
    let spec = Spec::of(Reason::Run).at(location);
    point(Operation::Io, 0);
    let wait = || wait_anywhere(fiber, &spec);
    let _ = match pool.is_current() {
        // Virtual time has to go on for it.
        true => wait(),
        false => outside(wait),
    };
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("name", &self.pool.name())
            .field("workers", &self.pool.workers())
            .finish_non_exhaustive()
    }
}
