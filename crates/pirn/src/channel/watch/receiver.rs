//! The receiving end of a watch channel.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::board::Board;
use super::case::ChangedCase;
use super::future::ChangedFuture;
use crate::base::choice::Operation;
use crate::channel::error::RecvError;
use crate::sync::RwLockReadGuard;
use crate::wait::object::Nameable;
use crate::wait::{Attempt, Reason, Spec, Waited, begin, point, wait_in};

/// The receiving end of a watch channel, which reads the value and waits for it to change.
///
/// A clone has seen the same version as the original.
///
/// # Examples
/// ```
/// use pirn::channel::watch;
///
/// let (tx, mut rx) = watch::channel(0);
/// let reader = pirn::spawn(move || {
///     let mut last = 0;
///     while rx.changed().is_ok() {
///         last = *rx.borrow();
///     }
///     last
/// });
/// (1..=5).for_each(|n| tx.send(n).unwrap());
/// drop(tx);
/// assert_eq!(reader.join().unwrap(), 5);
/// ```
pub struct Receiver<T> {
    pub(super) board: Arc<Board<T>>,
    /// The version that counts as seen, or `UNSEEN`.
    seen: u64,
}

/// A guard with read access to the value of a watch channel, which does not change meanwhile.
///
/// All senders wait while a `Ref` exists. Reading again while holding a `Ref` may block
/// indefinitely: a sender that arrived in between is served first, and waits for the first `Ref` to
/// be dropped.
///
/// # Examples
/// ```
/// use pirn::channel::watch;
///
/// let (_tx, rx) = watch::channel(vec![1, 2, 3]);
/// let numbers = rx.borrow();
/// assert_eq!(numbers.len(), 3);
/// assert_eq!(numbers.first(), Some(&1));
/// ```
#[must_use = "the value is only looked at through this"]
pub struct Ref<'a, T>(RwLockReadGuard<'a, T>);

impl<T> Nameable for Receiver<T> {
    fn known_at(&self) -> usize {
        (&raw const self.board.state).addr()
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(board: Arc<Board<T>>, seen: u64) -> Self {
        Receiver { board, seen }
    }

    /// Returns read access to the value, without marking it as seen. The caller must not hold
    /// another [`Ref`] of the channel. See [`changed`](Self::changed), and
    /// [`borrow_and_update`](Self::borrow_and_update), which marks it as seen.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread, while the value is being
    /// changed. In the middle of a poll it blocks the thread briefly. It panics if the value is not
    /// available then, for example because code in [`Sender::modify`](super::Sender::modify) waits.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, rx) = watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert_eq!(*rx.borrow(), 2);
    /// assert!(rx.has_changed()); // still not marked as seen
    /// ```
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        point(Operation::Look, self.known_at());
        Ref(self.board.look())
    }

    /// Returns read access to the value, and marks it as seen.
    ///
    /// # Cancellation
    /// As [`borrow`](Self::borrow).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert_eq!(*rx.borrow_and_update(), 2);
    /// assert!(!rx.has_changed());
    /// ```
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        point(Operation::TryReceive, self.known_at());
        let value = self.board.look();
        // WB1: the version of this value.
        self.seen = self.board.state.lock().version;
        Ref(value)
    }

    /// Returns true if the value has changed since it was last seen.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(1);
    /// assert!(!rx.has_changed()); // the initial value counts as seen
    /// tx.send(2).unwrap();
    /// assert!(rx.has_changed());
    /// rx.changed().unwrap();
    /// assert!(!rx.has_changed());
    /// ```
    pub fn has_changed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.board.state.lock().version != self.seen
    }

    /// Waits until the value has changed since it was last seen, and marks it as seen. Several
    /// changes count as one.
    ///
    /// # Errors
    /// `Disconnected` if all senders have been dropped and the last value has been seen,
    /// `Interrupted` if the caller is interrupted.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvError, watch};
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// assert_eq!(rx.changed(), Ok(())); // both changes at once
    /// assert_eq!(*rx.borrow(), 2);
    /// drop(tx);
    /// assert_eq!(rx.changed(), Err(RecvError::Disconnected));
    /// ```
    #[track_caller]
    pub fn changed(&mut self) -> Result<(), RecvError> {
        begin(Operation::Receive, self.known_at()).map_err(RecvError::Interrupted)?;
        self.seen = change_after(&self.board, self.seen)?;
        Ok(())
    }

    /// Waits until `f` returns true for the value, and returns read access to that value, marked as
    /// seen. `f` is called with the present value first, even if it was seen before, and then after
    /// changes; several changes count as one.
    ///
    /// The value does not change while `f` runs, or while the [`Ref`] exists. So `f` must not send
    /// to the channel. The caller must not hold another [`Ref`] of it.
    ///
    /// # Errors
    /// `Disconnected` if all senders have been dropped and `f` has returned false for the last
    /// value, `Interrupted` if the caller is interrupted, even if `f` would return true.
    ///
    /// # Panics
    /// If `f` panics; the value then counts as seen. Inside the
    /// [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvError, watch};
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// let counter = pirn::spawn(move || (1..=10).for_each(|n| tx.send(n).unwrap()));
    /// assert!(*rx.wait_for(|n| *n >= 5).unwrap() >= 5);
    /// assert_eq!(rx.wait_for(|n| *n > 10).unwrap_err(), RecvError::Disconnected);
    /// counter.join().unwrap();
    /// ```
    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut f: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        loop {
            // In each round: changes may come faster than `f` returns, so that no round parks.
            begin(Operation::Receive, self.known_at()).map_err(RecvError::Interrupted)?;
            let value = self.board.look();
            // WB1: the version of this value.
            self.seen = self.board.state.lock().version;
            if f(&value) {
                return Ok(Ref(value));
            }
            drop(value);
            change_after(&self.board, self.seen)?;
        }
    }

    /// Marks the value as not seen: [`changed`](Self::changed) returns at once, and
    /// [`has_changed`](Self::has_changed) returns true, even without a change.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (_tx, mut rx) = watch::channel("initial");
    /// rx.mark_changed();
    /// assert_eq!(rx.changed(), Ok(())); // reports the initial value too
    /// assert_eq!(*rx.borrow(), "initial");
    /// assert!(!rx.has_changed());
    /// ```
    #[doc(alias = "mark_unseen")]
    pub fn mark_changed(&mut self) {
        self.seen = UNSEEN;
    }

    /// Marks the present value as seen, without reading it.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// tx.send(1).unwrap();
    /// rx.mark_unchanged();
    /// assert!(!rx.has_changed());
    /// ```
    #[doc(alias = "mark_seen")]
    pub fn mark_unchanged(&mut self) {
        point(Operation::Look, self.known_at());
        self.seen = self.board.state.lock().version;
    }

    /// Returns true if all senders have been dropped: the value will not change any more, and may
    /// not have been seen yet.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, rx) = watch::channel(0);
    /// assert!(!rx.is_closed());
    /// tx.send(1).unwrap();
    /// drop(tx);
    /// assert!(rx.is_closed());
    /// assert!(rx.has_changed());
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.board.state.lock().senders == 0
    }

    /// Returns a select case that wins when [`changed`](Self::changed) would return.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// tx.send(1).unwrap();
    /// pirn::select! {
    ///     case(rx.changed_case()) -> changed => assert_eq!(changed, Ok(())),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// assert_eq!(*rx.borrow(), 1);
    /// ```
    pub fn changed_case(&mut self) -> ChangedCase<'_, T> {
        ChangedCase::new(&self.board, &mut self.seen)
    }

    /// Returns a future that is ready when [`changed`](Self::changed) would return. Any executor
    /// may poll it.
    ///
    /// If it is dropped before it is ready, nothing counts as seen: the next future is ready at
    /// once if there was a change meanwhile.
    ///
    /// It yields `Disconnected` as [`changed`](Self::changed) does, and never yields `Interrupted`.
    ///
    /// # Panics
    /// A poll panics after the future was ready.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// async fn until(limit: u32, mut rx: watch::Receiver<u32>) {
    ///     while *rx.borrow_and_update() < limit {
    ///         rx.changed_async().await.unwrap();
    ///     }
    /// }
    ///
    /// let (tx, rx) = watch::channel(0);
    /// let raises = pirn::spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
    /// pirn::future::block_on(until(3, rx));
    /// raises.join().unwrap();
    /// ```
    pub fn changed_async(&mut self) -> ChangedFuture<'_, T> {
        ChangedFuture::new(&self.board, &mut self.seen)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        point(Operation::Receive, self.known_at());
        self.board.state.lock().receivers += 1;
        Receiver::new(Arc::clone(&self.board), self.seen)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.board.remove_receiver();
    }
}

impl<'a, T> Ref<'a, T> {
    pub(super) fn new(guard: RwLockReadGuard<'a, T>) -> Self {
        Ref(guard)
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Waits until the version is another one than `seen`, and returns it.
#[track_caller]
fn change_after<T>(board: &Board<T>, seen: u64) -> Result<u64, RecvError> {
    loop {
        let waited = wait_in(
            &board.state,
            |state| &mut state.waiting,
            &Spec::interruptible(Reason::Watch),
            |state| {
                if state.version != seen {
                    Attempt::Done(Some(state.version))
                } else if state.senders == 0 {
                    Attempt::Done(None)
                } else {
                    Attempt::Wait(seen)
                }
            },
        );
        match waited {
            Waited::Done(version) => return version.ok_or(RecvError::Disconnected),
            Waited::Ended(how, _) => {
                if let Some(interrupt) = how.interrupt() {
                    return Err(RecvError::Interrupted(interrupt));
                }
            }
        }
    }
}

/// Stands for a version that was never reached, so that the present one counts as new.
const UNSEEN: u64 = u64::MAX;
