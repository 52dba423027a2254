//! The handle of a spawned fiber.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::base::choice::Operation;
use crate::join::{AwaitedEnd, Fiber, JoinCase, JoinError, Joined};
use crate::wait::{Interrupt, point};

/// An owned permission to join a fiber: to wait for it and take its result.
///
/// Dropping the handle detaches the fiber: it continues, and its result is dropped when it ends. If
/// the fiber has ended, dropping the handle drops the result. A panic of the result's destructor is
/// caught. Handles may be shared: any number of fibers and threads can [`wait`](Self::wait).
///
/// A handle is also a future with the output of [`join`](Self::join): for a fiber in
/// [`future::wait`](crate::future::wait()), and for other libraries' runtimes. It never yields
/// `Interrupted`, and dropping it detaches the fiber as usual. Once it is ready, the outcome has
/// been taken: a later `join` returns [`JoinError::Taken`], and a later poll panics.
///
/// # Examples
/// ```
/// let child = pirn::spawn(|| 6 * 7);
/// let answer = pirn::future::block_on(async { child.await.unwrap() });
/// assert_eq!(answer, 42);
/// ```
pub struct JoinHandle<T> {
    joined: Joined<T>,
    /// The wait while the handle is polled.
    awaited: Option<AwaitedEnd>,
}

// As the handle of `std`: a panic of the fiber is returned by the join.
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    #[inline]
    pub(crate) fn new(joined: Joined<T>) -> Self {
        JoinHandle {
            joined,
            awaited: None,
        }
    }

    /// Waits for the fiber to end and returns its result.
    ///
    /// # Errors
    /// * [`JoinError::Panicked`] with the payload if the fiber panicked.
    /// * [`JoinError::NotRun`] if it was cancelled, or its runtime shut down, before it started;
    ///   its closure has been dropped.
    /// * [`JoinError::Taken`] if the handle was polled, as a future, until it was ready.
    /// * [`JoinError::Interrupted`] if the *caller* was interrupted. The fiber continues, detached.
    ///   To keep the handle, call [`wait`](Self::wait) first.
    ///
    /// # Panics
    /// In a start hook of a runtime
    /// ([`on_thread_start`](crate::runtime::Builder::on_thread_start)), if the fiber has not ended.
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point, but not for a fiber that has finished. Parks a fiber, blocks a plain
    /// thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::JoinError;
    ///
    /// let fiber = pirn::spawn(|| 6 * 7);
    /// assert_eq!(fiber.join().unwrap(), 42);
    ///
    /// let fiber = pirn::spawn(|| -> u32 { panic!("on purpose") });
    /// assert!(matches!(fiber.join(), Err(JoinError::Panicked(_))));
    /// ```
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        let JoinHandle { joined, awaited } = self;
        if let Some(awaited) = awaited {
            end(awaited);
        }
        joined.join()
    }

    /// Waits for the fiber to end and keeps the handle.
    ///
    /// # Errors
    /// The interrupt of the caller. For a finished fiber it returns `Ok` even then.
    ///
    /// # Panics
    /// As [`join`](Self::join).
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    ///
    /// # Examples
    /// ```
    /// let fiber = pirn::spawn(|| 7);
    /// fiber.wait().unwrap();
    /// assert!(fiber.is_finished());
    /// assert_eq!(fiber.join().unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.joined.wait_for_end()
    }

    /// Waits for at most `limit`, and returns the handle if the fiber has not ended then. If the
    /// clock cannot express `limit`, there is no limit.
    ///
    /// # Errors
    /// `Err(handle)` when the time is up; `Ok` contains the result of [`join`](Self::join).
    ///
    /// # Panics
    /// As [`join`](Self::join).
    ///
    /// # Cancellation
    /// As [`join`](Self::join). If interrupted, it returns `Ok(Err(JoinError::Interrupted(_)))`,
    /// and the handle is consumed.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let fiber = pirn::spawn(|| pirn::park());
    /// let fiber = fiber.join_timeout(Duration::from_millis(1)).unwrap_err();
    /// fiber.fiber().unpark();
    /// assert!(fiber.join_timeout(Duration::from_secs(60)).unwrap().is_ok());
    /// ```
    #[track_caller]
    pub fn join_timeout(
        self,
        limit: Duration,
    ) -> Result<Result<T, JoinError>, JoinHandle<T>> {
        let JoinHandle { joined, awaited } = self;
        let back = |joined| JoinHandle { joined, awaited };
        joined.join_timeout(limit).map_err(back)
    }

    /// Returns true if the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let fiber = pirn::spawn(|| pirn::park());
    /// assert!(!fiber.is_finished());
    /// fiber.fiber().unpark();
    /// fiber.wait().unwrap();
    /// assert!(fiber.is_finished());
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        point(Operation::Look, self.joined.fiber().address());
        self.joined.is_finished()
    }

    /// Requests the fiber to stop. A fiber that has not started never starts. A running one is
    /// interrupted in its present wait and in every later one, where those are interruption points.
    /// On a finished fiber it has no effect.
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, and does not wait for the fiber.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// let fiber = pirn::spawn(|| pirn::spawn::park_interruptible());
    /// fiber.cancel();
    /// match fiber.join() {
    ///     Ok(parked) => assert_eq!(parked, Err(Interrupt::Cancelled)),
    ///     Err(error) => println!("{error}"), // cancelled before it started
    /// }
    /// ```
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        point(Operation::Cancel, self.joined.fiber().address());
        self.joined.fiber().cancel();
    }

    /// Detaches the fiber, which continues; the same as dropping the handle.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// pirn::spawn(move || tx.send("still running").unwrap()).detach();
    /// assert_eq!(rx.recv(), Ok("still running"));
    /// ```
    #[doc(alias = "drop")]
    pub fn detach(self) {
        drop(self);
    }

    /// Returns a select case that wins when the fiber has ended; then [`join`](Self::join) does not
    /// wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let fiber = pirn::spawn(|| 7);
    /// pirn::select! {
    ///     join(fiber) => {} // uses `join_case`
    ///     after(Duration::from_secs(60)) => panic!("still running"),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// assert_eq!(fiber.join().unwrap(), 7);
    /// ```
    pub fn join_case(&self) -> JoinCase<'_> {
        JoinCase::new(self.joined.fiber())
    }

    /// Returns the fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    ///
    /// # Examples
    /// ```
    /// let handle = pirn::spawn(|| pirn::park());
    /// handle.fiber().unpark();
    /// assert!(handle.join().is_ok());
    /// ```
    #[doc(alias = "thread")]
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        self.joined.fiber()
    }
}

/// Not inlined, because few handles are polled and then joined.
#[cold]
fn end(_: AwaitedEnd) {}

// It contains no value of type `T`.
impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// If it was ready before.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let fiber = this.joined.fiber();
        assert!(
            !this.joined.has_yielded(),
            "a handle is polled that has yielded already"
        );
        let awaited = this
            .awaited
            .get_or_insert_with(|| AwaitedEnd::new(fiber.clone()));
        ready!(awaited.poll(context));
        this.awaited = None;
        Poll::Ready(this.joined.take_outcome())
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("fiber", self.fiber())
            .finish_non_exhaustive()
    }
}
