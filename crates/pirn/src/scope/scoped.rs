//! Spawning fibers that may borrow, and waiting for those of a scope.

// Owns: the public type `Scope`, how a child reaches its scope, and the unchecked spawns.
// Does not own: when a scope ends (`open`), the count of its children (`children`), or groups
// (`group`).

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::children::Children;
use super::group::TaskGroup;
use super::handle::ScopedJoinHandle;
use super::leaving::Leaving;
use crate::base::choice::Operation;
use crate::cancel::Token;
use crate::fiber::cancel_scope::RegionRef;
use crate::fiber::current::Local;
use crate::fiber::local::Inheritance;
use crate::fiber::panic_payload::Panic;
use crate::fiber::ticket::Wake;
use crate::fiber::{EndHook, EndTable, Ending, FiberPtr, Outcome, current, entry};
use crate::join::{Fiber, Fresh};
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;
use crate::spawn::{Builder, JoinHandle, Rejected, SpawnError};
use crate::wait::{Interrupt, Reason, Spec, deadline_in, point};

/// A scope in which fibers are spawned; see [`scope`](crate::scope()).
///
/// # Examples
/// ```
/// use pirn::scope::Scope;
///
/// fn increment<'scope>(s: &'scope Scope<'scope, '_>, numbers: &'scope mut [u32]) {
///     for n in numbers {
///         s.spawn(move || *n += 1);
///     }
/// }
///
/// let mut numbers = [1, 2, 3];
/// pirn::scope(|s| increment(s, &mut numbers));
/// assert_eq!(numbers, [2, 3, 4]);
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    pub(super) children: Children,
    pub(super) leaving: Leaving<'scope>,
    /// The token of the children's region, once it was asked for.
    token: OnceLock<Token>,
    pool: Arc<Pool>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    pub(super) fn new(pool: Arc<Pool>, children: Children) -> Self {
        Scope {
            children,
            leaving: Leaving::new(),
            token: OnceLock::new(),
            pool,
            scope: PhantomData,
            env: PhantomData,
        }
    }

    /// Spawns a fiber in this scope. It runs under the scope's token and deadline.
    ///
    /// If the scope has been cancelled before the fiber starts, or its runtime shut down, `f` is
    /// dropped and joining returns [`NotRun`](crate::spawn::JoinError::NotRun).
    ///
    /// # Panics
    /// With the panic of the `clone` of an inherited fiber-local value
    /// ([`fiber_local!`](crate::fiber_local!)); `f` is dropped then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let text = String::from("borrowed");
    /// pirn::scope(|s| {
    ///     let vowels = s.spawn(|| text.chars().filter(|c| "aeiou".contains(*c)).count());
    ///     let length = s.spawn(|| text.len());
    ///     assert_eq!(vowels.join().unwrap(), 3);
    ///     assert_eq!(length.join().unwrap(), 8);
    /// });
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // First, because a user's `clone` may suspend.
        let (inherited, local) = Inheritance::copy_here();
        let fresh = self.fresh(local, inherited, Builder::new(), f);
        let (fiber, joined) = fresh.into_parts();
        if let Err(fiber) = enqueue::spawn(&self.pool, local, fiber) {
            entry::refuse(fiber);
        }
        ScopedJoinHandle::new(joined, &self.children)
    }

    /// Spawns a fiber in this scope, unless the scope has been cancelled or its runtime shut down.
    ///
    /// # Errors
    /// Returns `f` in that case.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Rejected;
    ///
    /// pirn::scope(|s| {
    ///     assert!(s.try_spawn(|| 1).is_ok());
    ///     s.cancel();
    ///     let error = s.try_spawn(|| 2).unwrap_err();
    ///     assert_eq!(error.reason(), Rejected::Cancelled);
    ///     assert_eq!(error.into_inner()(), 2);
    /// });
    /// ```
    #[track_caller]
    pub fn try_spawn<F, T>(
        &'scope self,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f)
    }

    /// As [`try_spawn`](Self::try_spawn), for the closure that `wrap` builds from `f`.
    #[track_caller]
    pub(super) fn spawn_if_admitted<F, W, T>(
        &'scope self,
        f: F,
        wrap: impl FnOnce(F) -> W,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        W: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if self.children.region.is_cancelled() {
            return Err(SpawnError::new(f, Rejected::Cancelled));
        }
        // First, because a user's `clone` may panic.
        let (inherited, local) = Inheritance::copy_here();
        if !enqueue::admit(&self.pool, local) {
            return Err(SpawnError::new(f, Rejected::ShutDown));
        }
        let fresh = self.fresh(local, inherited, Builder::new(), wrap(f));
        let (fiber, joined) = fresh.into_parts();
        if let Err(fiber) = enqueue::queue(&self.pool, current::local(), fiber) {
            entry::refuse(fiber);
        }
        Ok(ScopedJoinHandle::new(joined, &self.children))
    }

    /// Waits for all children that have been spawned so far, and for those that they spawn. If a
    /// child calls it, only an interrupt ends it.
    ///
    /// # Errors
    /// The interrupt of the caller. It returns `Ok` even then if no child is left.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point, but not if no child is left. Parks a fiber, blocks a plain
    /// thread.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let ended = AtomicU32::new(0);
    /// pirn::scope(|s| {
    ///     for _ in 0..3 {
    ///         s.spawn(|| ended.fetch_add(1, Ordering::Relaxed));
    ///     }
    ///     s.wait().unwrap();
    ///     assert_eq!(ended.load(Ordering::Relaxed), 3);
    /// });
    /// ```
    #[doc(alias = "WaitGroup")]
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        let spec = Spec::interruptible(Reason::Scope);
        self.children.wait(&spec).ended().map(drop)
    }

    /// Waits as [`wait`](Self::wait) does, for at most `limit`; returns false if children are left
    /// then. If the clock cannot express `limit`, there is no limit.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    ///
    /// # Cancellation
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::park());
    ///     assert_eq!(s.wait_timeout(Duration::from_millis(1)), Ok(false));
    ///     handle.fiber().unpark();
    ///     assert_eq!(s.wait_timeout(Duration::from_secs(60)), Ok(true));
    /// });
    /// ```
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool, Interrupt> {
        let spec = Spec::interruptible(Reason::Scope).until(deadline_in(limit));
        self.children.wait(&spec).ended()
    }

    /// Cancels the scope permanently. Every interruptible wait of its body, of its children and of
    /// theirs reports [`Interrupt::Cancelled`]. Children that have not started never start. It does
    /// not wait.
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, unless a callback of
    /// [`Token::on_cancel`] does.
    ///
    /// # Examples
    /// ```
    /// use pirn::{Interrupt, cancel};
    ///
    /// let interrupted = pirn::scope(|s| {
    ///     // Would wait indefinitely.
    ///     s.spawn(|| pirn::spawn::park_interruptible());
    ///     s.cancel();
    ///     cancel::check()
    /// });
    /// assert_eq!(interrupted, Err(Interrupt::Cancelled));
    /// assert_eq!(cancel::check(), Ok(()));
    /// ```
    pub fn cancel(&self) {
        point(Operation::Cancel, 0);
        self.children.cancel();
    }

    /// Returns the token under which the scope's body and its children run.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let canceller = pirn::scope(|s| {
    ///     let token = s.token().clone();
    ///     let canceller = pirn::spawn(move || token.cancel());
    ///     assert_eq!(pirn::spawn::park_interruptible(), Err(Interrupt::Cancelled));
    ///     canceller
    /// });
    /// canceller.join().unwrap();
    /// ```
    #[must_use]
    pub fn token(&self) -> &Token {
        // Created outside of the closure, which must not wait.
        let node = self.children.region.token();
        self.token.get_or_init(|| Token::of(node))
    }

    /// Registers `f` to be called on the scope's owner before [`scope`](crate::scope()) returns.
    /// That is when all children have ended, including those that children spawn. The last
    /// registered call runs first. The scope's token and deadline no longer apply to it.
    ///
    /// If `f` panics, the other calls still run. Then `scope` panics with the first of these
    /// panics, unless it has another one to raise. Fibers that `f` spawns in the scope are waited
    /// for.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(4);
    /// pirn::scope(|s| {
    ///     s.on_exit(|| drop(tx.close()));
    ///     s.spawn(|| tx.send(1).unwrap());
    /// });
    /// assert_eq!(rx.iter().collect::<Vec<i32>>(), [1]);
    /// ```
    #[doc(alias = "defer")]
    pub fn on_exit<F: FnOnce() + Send + 'scope>(&'scope self, f: F) {
        self.leaving.add(f);
    }

    /// Returns how many children have not ended. It may lag behind a child's last statement.
    ///
    /// # Examples
    /// ```
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::park());
    ///     assert_eq!(s.len(), 1);
    ///     handle.fiber().unpark();
    ///     s.wait().unwrap();
    ///     assert_eq!(s.len(), 0);
    /// });
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        point(Operation::Look, 0);
        self.children.alive()
    }

    /// Returns true if all children have ended.
    ///
    /// # Examples
    /// ```
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::park());
    ///     assert!(!s.is_empty());
    ///     handle.fiber().unpark();
    ///     s.wait().unwrap();
    ///     assert!(s.is_empty());
    /// });
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[track_caller]
    pub(super) fn fresh<F, T>(
        &'scope self,
        local: &Local,
        inherited: Inheritance,
        builder: Builder,
        f: F,
    ) -> Fresh<F, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.fresh_at(local, Location::caller(), inherited, builder, f)
    }

    fn fresh_at<F, T>(
        &'scope self,
        local: &Local,
        location: &'static Location<'static>,
        inherited: Inheritance,
        builder: Builder,
        f: F,
    ) -> Fresh<F, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: SC1: all that `F` and `T` borrow lives for `'scope`, which is longer than the
        // child.
        let fresh = unsafe { Fresh::borrowing(local, location, f) };
        builder.label(&fresh);
        fresh.inherit(inherited);
        self.children.count();
        // SAFETY: SC1.
        unsafe { adopt(&self.children, fresh.ptr()) };
        fresh
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a fiber in this scope that is never joined, with `location` as its spawn line. It
    /// starts even if the scope has been cancelled, at the place that `builder` says.
    ///
    /// # Errors
    /// Returns `f` if the runtime has been shut down.
    pub(crate) fn spawn_obliged<F>(
        &'scope self,
        location: &'static Location<'static>,
        builder: Builder,
        f: F,
    ) -> Result<(), F>
    where
        F: FnOnce() + Send + 'scope,
    {
        let inherited = Inheritance::copy(current::local());
        let placement = builder.placement();
        let fresh = self.fresh_at(current::local(), location, inherited, builder, f);
        // H2: not published yet.
        fresh.ptr().header().flags.set_must_run(true);
        match fresh.publish(|fiber| self.publish(fiber, placement)) {
            Ok(joined) => {
                drop(joined);
                Ok(())
            }
            Err(f) => {
                self.children.uncount();
                Err(f)
            }
        }
    }
}

impl Scope<'_, '_> {
    fn publish(&self, fiber: FiberPtr, apart: Option<bool>) -> Result<(), FiberPtr> {
        let local = current::local();
        match apart {
            None => enqueue::spawn(&self.pool, local, fiber),
            Some(apart) => enqueue::spawn_placed(&self.pool, local, fiber, apart),
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Takes the oldest panic that was not joined; the others are dropped. Called by `conduct`,
    /// which has dropped all that could hold a handle.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        // SAFETY: SC1: this is the end of the scope.
        unsafe { take_panic(&self.children) }
    }
}

impl Builder {
    /// Spawns the fiber in a scope, as [`Scope::try_spawn`] does.
    ///
    /// # Errors
    /// Returns `f` if the scope has been cancelled, its runtime shut down, or the system has no
    /// memory for a stack of the requested size.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// let text = String::from("data");
    /// pirn::scope(|s| {
    ///     let handle = Builder::new().name("reader").spawn_scoped(s, || text.len()).unwrap();
    ///     assert_eq!(handle.fiber().name(), Some("reader"));
    ///     assert_eq!(handle.join().unwrap(), 4);
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if self.asks_too_much(scope.pool()) {
            return Err(SpawnError::new(f, Rejected::OutOfMemory));
        }
        if scope.children.region.is_cancelled() {
            return Err(SpawnError::new(f, Rejected::Cancelled));
        }
        let placement = self.placement();
        let inherited = Inheritance::copy(current::local());
        let fresh = scope.fresh(current::local(), inherited, self, f);
        match fresh.publish(|fiber| scope.publish(fiber, placement)) {
            Ok(joined) => Ok(ScopedJoinHandle::new(joined, &scope.children)),
            Err(f) => {
                scope.children.uncount();
                Err(SpawnError::new(f, Rejected::ShutDown))
            }
        }
    }

    /// Spawns the fiber; `f` may borrow, and the compiler does not check the lifetimes.
    ///
    /// # Errors
    /// Returns `f` if the runtime has been shut down, or the system has no memory for a stack of
    /// the requested size.
    ///
    /// # Panics
    /// As [`spawn`](Builder::spawn).
    ///
    /// # Cancellation
    /// As [`spawn`](Builder::spawn).
    ///
    /// # Safety
    /// All that `f` and its result borrow must outlive the fiber: the caller must join it first,
    /// also when unwinding.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::shield;
    /// use pirn::spawn::Builder;
    ///
    /// let numbers = vec![1, 2, 3];
    /// // SAFETY: `numbers` outlives the fiber: nothing unwinds before the shielded join.
    /// let spawned = unsafe { Builder::new().spawn_unchecked(|| numbers.iter().sum::<i32>()) };
    /// let joined = spawned.map(|fiber| shield(|| fiber.join()));
    /// assert_eq!(joined.unwrap().unwrap(), 6);
    /// ```
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(
        self,
        f: F,
    ) -> Result<JoinHandle<T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller's promise.
        let fresh = |local: &Local, at, f| unsafe { Fresh::borrowing(local, at, f) };
        self.spawn_fresh(f, fresh)
    }
}

impl<T: Send + 'static> TaskGroup<T> {
    /// Spawns a fiber in this group, as [`spawn`](TaskGroup::spawn) does; `f` may borrow, and the
    /// compiler does not check the lifetimes.
    ///
    /// # Errors
    /// As [`spawn`](TaskGroup::spawn).
    ///
    /// # Panics
    /// As [`spawn`](TaskGroup::spawn).
    ///
    /// # Cancellation
    /// As [`spawn`](TaskGroup::spawn).
    ///
    /// # Safety
    /// All that `f` borrows must outlive the fiber: the caller must wait for the fiber first, also
    /// when unwinding.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::shield;
    /// use pirn::scope::TaskGroup;
    ///
    /// let numbers = vec![1, 2, 3];
    /// let group = TaskGroup::new();
    /// // SAFETY: `numbers` outlives the fiber: nothing unwinds before the shielded wait.
    /// let spawned = unsafe { group.spawn_unchecked(|| numbers.iter().sum::<i32>()) };
    /// shield(|| group.wait()).unwrap();
    /// assert!(spawned.is_ok());
    /// assert_eq!(group.join_next().unwrap().unwrap().unwrap(), 6);
    /// ```
    #[track_caller]
    pub unsafe fn spawn_unchecked<F>(&self, f: F) -> Result<Fiber, SpawnError<F>>
    where
        F: FnOnce() -> T + Send,
    {
        // SAFETY: the caller's promise.
        let fresh = |local: &Local, at, f| unsafe { Fresh::borrowing(local, at, f) };
        self.spawn_fresh(f, fresh)
    }
}

/// Registers `fiber`, which has been counted and not published, to be counted off when it ends.
///
/// # Safety
/// `children` stay at their address until [`wait`](Children::wait) has found that all have ended,
/// and the handles are not used after that.
pub(super) unsafe fn adopt(children: &Children, fiber: FiberPtr) {
    // H2: the fiber is not published yet.
    let header = fiber.header();
    if children.raises() {
        header.flags.set_keeps_panic();
    }
    // SAFETY: RG1: the region is part of `children`, and the child ends before `wait` does.
    let region = unsafe { RegionRef::new(&children.region) };
    header.inherit_scope(region);
    if !children.timed() {
        header.set_scope(header.scope().untimed());
    }
    let data = ptr::from_ref(children).cast();
    header.set_on_end(Some(EndHook {
        table: &TABLE,
        data,
    }));
}

/// Takes the oldest panic of `children` that was not joined; the others are dropped.
///
/// # Safety
/// SC1: no child is alive, and no handle is in use.
pub(super) unsafe fn take_panic(children: &Children) -> Option<Panic> {
    let mut first = None;
    for child in children.take_panicked() {
        assert_eq!(children.alive(), 0, "SC1: the end of the scope");
        if child.header().outcome() != Outcome::Panicked {
            continue;
        }
        if first.is_some() {
            // SAFETY: H5: the child has ended, and no handle of it is left in use.
            unsafe { entry::drop_outcome(child.ptr()) };
            continue;
        }
        child.header().set_outcome(Outcome::Taken);
        // SAFETY: H5: as above, and the outcome was a panic.
        first = Some(unsafe { entry::take_panic(child.ptr()) });
    }
    first
}

/// The end hook of a scope's children.
static TABLE: EndTable = EndTable {
    ended: child_ended,
    panic_left,
    set_stackless,
};

/// # Safety
/// As for [`child_ended`], of a child that has not ended.
unsafe fn set_stackless(data: *const (), stackless: bool, wakes: &mut Vec<Wake>) {
    // SAFETY: SC1: the scope waits for the child.
    unsafe { &*data.cast::<Children>() }.count_stackless(stackless, wakes);
}

/// # Safety
/// `data` points to the `Children` that `fiber` was counted in.
unsafe fn child_ended(data: *const (), fiber: FiberPtr, ending: Ending) {
    // SAFETY: SC1 (`open`): the scope waits for this very call.
    unsafe { &*data.cast::<Children>() }.ended(fiber, ending);
}

/// # Safety
/// As for [`child_ended`]; the caller is a handle, which ends before the scope does.
unsafe fn panic_left(data: *const ()) {
    // SAFETY: the caller's promise.
    unsafe { &*data.cast::<Children>() }.cancel();
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("alive", &self.len())
            .finish_non_exhaustive()
    }
}
