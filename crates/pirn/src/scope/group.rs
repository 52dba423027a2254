//! [`TaskGroup`]: fibers that belong to a value instead of a stack frame.

// Does not own: the count and the results (`members`), or `spawn_unchecked` (`scoped`).

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::members::{Members, Next};
use crate::base::choice::Operation;
use crate::cancel::Token;
use crate::fiber::current::{self, Local};
use crate::join::{Fiber, Fresh, JoinError};
use crate::runtime::Handle;
use crate::sched::worker::enqueue;
use crate::spawn::{Rejected, SpawnError};
use crate::wait::point;
use crate::wait::{How, Interrupt, Reason, Spec, begin, consume_budget, deadline_in};

/// A group of fibers that belongs to a value, and not to a stack frame as in a
/// [`scope`](crate::scope()). A struct can keep it in a field. The fibers cannot borrow.
///
/// [`join_next`](TaskGroup::join_next) returns results in the order in which the fibers end. They
/// are kept until then; of fibers that return `()` only the number is kept. A panic cancels
/// nothing. It is the result of its fiber, and kept until `join_next`.
///
/// Dropping the group cancels its fibers and does not wait.
///
/// # Examples
/// ```
/// use pirn::scope::TaskGroup;
///
/// let group = TaskGroup::new();
/// for n in [3_u64, 1, 2] {
///     group.spawn(move || n * 10).unwrap();
/// }
/// let mut results = Vec::new();
/// while let Some(result) = group.join_next().unwrap() {
///     results.push(result.unwrap());
/// }
/// results.sort();
/// assert_eq!(results, [10, 20, 30]);
/// ```
#[doc(alias = "JoinSet")]
#[doc(alias = "TaskTracker")]
#[doc(alias = "WaitGroup")]
#[doc(alias = "errgroup")]
pub struct TaskGroup<T = ()> {
    members: Members<T>,
    token: Token,
    limit: usize,
}

impl<T: Send + 'static> TaskGroup<T> {
    /// Returns an empty group with a root token. Its fibers also run under the token of their
    /// runtime: a shutdown of that cancels their [current](Token::current) tokens too.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// group.spawn(|| 6 * 7).unwrap();
    /// assert_eq!(group.join_next().unwrap().unwrap().unwrap(), 42);
    /// assert!(group.join_next().unwrap().is_none());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        TaskGroup::with_token(Token::new())
    }

    /// Returns an empty group that is cancelled with `parent`.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    /// use pirn::scope::TaskGroup;
    ///
    /// let parent = Token::new();
    /// let group = TaskGroup::under(&parent);
    /// assert!(group.spawn(|| 1).is_ok());
    /// parent.cancel();
    /// assert!(group.spawn(|| 2).is_err());
    /// ```
    #[must_use]
    pub fn under(parent: &Token) -> Self {
        TaskGroup::with_token(parent.child())
    }

    fn with_token(token: Token) -> Self {
        TaskGroup {
            members: Members::new(Arc::clone(token.node())),
            token,
            limit: usize::MAX,
        }
    }

    /// Limits the group to `n` fibers alive at a time: [`spawn`](TaskGroup::spawn) waits at the
    /// limit.
    ///
    /// # Panics
    /// If `n` is 0.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends. [`spawn`](TaskGroup::spawn) becomes one.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new().limit(2);
    /// for n in 0..10 {
    ///     // Waits while two fibers are alive.
    ///     group.spawn(move || n * n).unwrap();
    ///     assert!(group.len() <= 2);
    /// }
    /// ```
    #[doc(alias = "SetLimit")]
    #[must_use]
    pub fn limit(mut self, n: usize) -> Self {
        assert!(n > 0, "a group in which no fiber may live");
        self.limit = n;
        self
    }

    /// Spawns a fiber in this group, on the [current](Handle::current) runtime.
    ///
    /// # Errors
    /// Returns `f` if the group has been cancelled, the runtime shut down, or, if the group has a
    /// [`limit`](TaskGroup::limit), the caller is interrupted.
    ///
    /// # Panics
    /// If there is no runtime and the default one cannot be created. Inside the
    /// [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait. In an
    /// [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook, if there is a limit.
    ///
    /// # Cancellation
    /// An interruption point if the group has a limit, and may wait then; otherwise not.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// let fiber = group.spawn(|| pirn::current().id()).unwrap();
    /// let id = group.join_next().unwrap().unwrap().unwrap();
    /// assert_eq!(id, fiber.id());
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, f: F) -> Result<Fiber, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        self.spawn_fresh(f, Fresh::new)
    }

    /// As [`spawn`](TaskGroup::spawn), for the fiber that `fresh` makes of `f`.
    #[track_caller]
    pub(super) fn spawn_fresh<F>(
        &self,
        f: F,
        fresh: impl FnOnce(&Local, &'static Location<'static>, F) -> Fresh<F, T>,
    ) -> Result<Fiber, SpawnError<F>>
    where
        F: FnOnce() -> T + Send,
    {
        point(Operation::Check, 0);
        if self.members.is_cancelled() || !self.has_room() {
            return Err(SpawnError::new(f, Rejected::Cancelled));
        }
        let counted = Counted(&self.members);
        // Panics if no runtime can be created.
        let handle = Handle::current();
        let local = current::local();
        let fresh = fresh(local, Location::caller(), f);
        // From here on the end of the fiber counts it off.
        let _counted = ManuallyDrop::new(counted);
        let pool = handle.pool();
        let queue = |fiber| enqueue::spawn(pool, local, fiber);
        self.members
            .publish(fresh, pool.root(), queue)
            .map_err(|f| SpawnError::new(f, Rejected::ShutDown))
    }

    /// Counts one more fiber, waiting at the limit; returns false if the caller was interrupted.
    #[track_caller]
    fn has_room(&self) -> bool {
        if self.limit != usize::MAX {
            current::refuse_in_start_hook(current::local());
        }
        let spec = match self.limit {
            usize::MAX => Spec::of(Reason::Group),
            _ if begin(Operation::Join, 0).is_err() => return false,
            _ => Spec::interruptible(Reason::Group),
        };
        !matches!(self.members.count(self.limit, &spec), How::Interrupted(_))
    }

    /// Waits for the next fiber to end, in the order in which they end, and returns its result.
    /// `None` if no fiber is left.
    ///
    /// # Errors
    /// The interrupt of the caller, if no fiber has ended yet.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait;
    /// and in an [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
    ///
    /// # Cancellation
    /// An interruption point, but not if a result is available or no fiber is left. Parks a fiber,
    /// blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// for n in 1..=3 {
    ///     group.spawn(move || n).unwrap();
    /// }
    /// let mut sum = 0;
    /// while let Some(result) = group.join_next().unwrap() {
    ///     sum += result.unwrap();
    /// }
    /// assert_eq!(sum, 6);
    /// ```
    #[track_caller]
    pub fn join_next(&self) -> Result<Option<Result<T, JoinError>>, Interrupt> {
        current::refuse_in_start_hook(current::local());
        consume_budget(Operation::Join, 0);
        match self.members.take_next(&Spec::interruptible(Reason::Group)) {
            Err(how) => Err(how.interrupt().unwrap_or(Interrupt::Cancelled)),
            Ok(Next::None) => Ok(None),
            Ok(Next::Ended(joined)) => Ok(Some(joined.take())),
            Ok(Next::Counted(unit)) => Ok(Some(Ok(unit))),
        }
    }

    /// Waits until no fiber of the group is alive. Results stay available to
    /// [`join_next`](TaskGroup::join_next), and more fibers may be spawned.
    ///
    /// # Errors
    /// The interrupt of the caller. It returns `Ok` even then if no fiber is alive.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait;
    /// and in an [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
    ///
    /// # Cancellation
    /// An interruption point, but not if no fiber is alive. Parks a fiber, blocks a plain
    /// thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let (tx, rx) = pirn::channel::unbounded();
    /// let group = TaskGroup::new();
    /// for n in 0..4 {
    ///     let tx = tx.clone();
    ///     group.spawn(move || tx.send(n).unwrap()).unwrap();
    /// }
    /// group.wait().unwrap();
    /// assert_eq!(rx.len(), 4);
    /// ```
    #[doc(alias = "join_all")]
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        current::refuse_in_start_hook(current::local());
        point(Operation::Join, 0);
        let spec = Spec::interruptible(Reason::Group);
        self.members.wait(&spec).ended().map(drop)
    }

    /// Waits as [`wait`](TaskGroup::wait) does, for at most `limit`; returns false if fibers are
    /// left then. If the clock cannot express `limit`, there is no limit. To drain and then cancel:
    /// `if !group.wait_timeout(d)? { group.cancel() }`.
    ///
    /// # Errors
    /// As [`wait`](TaskGroup::wait).
    ///
    /// # Panics
    /// As [`wait`](TaskGroup::wait).
    ///
    /// # Cancellation
    /// As [`wait`](TaskGroup::wait).
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    /// use std::time::Duration;
    ///
    /// let group = TaskGroup::new();
    /// let fiber = group.spawn(|| pirn::park()).unwrap();
    /// assert_eq!(group.wait_timeout(Duration::from_millis(1)), Ok(false));
    /// fiber.unpark();
    /// assert_eq!(group.wait_timeout(Duration::from_secs(60)), Ok(true));
    /// ```
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool, Interrupt> {
        current::refuse_in_start_hook(current::local());
        point(Operation::Join, 0);
        let spec = Spec::interruptible(Reason::Group).until(deadline_in(limit));
        self.members.wait(&spec).ended()
    }

    /// Cancels the group permanently. Its fibers are interrupted, those that have not started never
    /// start, and later spawns fail.
    ///
    /// # Cancellation
    /// As [`Token::cancel`].
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// group.spawn(|| pirn::spawn::park_interruptible().is_err()).unwrap();
    /// group.cancel();
    /// group.wait().unwrap();
    /// assert!(group.spawn(|| true).is_err());
    /// ```
    #[doc(alias = "abort_all")]
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns the token under which the group's fibers run. Their own [current](Token::current)
    /// one is below this and below that of their runtime.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// assert!(group.spawn(|| 1).is_ok());
    /// group.token().cancel();
    /// assert!(group.spawn(|| 2).is_err());
    /// ```
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Returns how many fibers have not ended. It may lag behind a fiber's last statement.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// let fiber = group.spawn(|| pirn::park()).unwrap();
    /// assert_eq!(group.len(), 1);
    /// fiber.unpark();
    /// group.wait().unwrap();
    /// assert_eq!(group.len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        point(Operation::Look, 0);
        self.members.alive()
    }

    /// Returns true if all fibers have ended.
    ///
    /// # Examples
    /// ```
    /// use pirn::scope::TaskGroup;
    ///
    /// let group = TaskGroup::new();
    /// let fiber = group.spawn(|| pirn::park()).unwrap();
    /// assert!(!group.is_empty());
    /// fiber.unpark();
    /// group.wait().unwrap();
    /// assert!(group.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A fiber that is counted and not created yet.
struct Counted<'a, T>(&'a Members<T>);

impl<T> Drop for Counted<'_, T> {
    fn drop(&mut self) {
        self.0.uncount();
    }
}

impl<T: Send + 'static> Default for TaskGroup<T> {
    fn default() -> Self {
        TaskGroup::new()
    }
}

impl<T> Drop for TaskGroup<T> {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl<T> fmt::Debug for TaskGroup<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskGroup")
            .field("alive", &self.members.alive())
            .finish_non_exhaustive()
    }
}
