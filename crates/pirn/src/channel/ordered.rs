//! Work that runs in parallel, with its results received in the order of submission.
//!
//! # Invariants
//! * OR1. `late` holds the places from `first` on, in order of submission. Each is filled once, by
//!   the end of its fiber, however it ends.
//! * OR2. Results leave `late` from its front only, and one party at a time (`delivering`) moves
//!   them to the channel. So they arrive in order, and no two locks are held.

// Owns: the places of results that do not exist yet. A submission reserves a place in the buffer
// of a channel. A fiber that ends stores its result behind those of earlier submissions. It is
// delivered once all of those are present.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::error::SendError;
use super::open::bounded;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::shim::Lock;
use crate::spawn::{JoinError, Payload, spawn};

/// Opens a channel of results: fibers run the work submitted at one end, and results are received
/// at the other end in the order of submission.
///
/// At most `capacity` results are being computed or waiting to be received. The work starts in any
/// order. It does not inherit the token of the submitting fiber, and runs to its end if the receiver is
/// dropped.
///
/// # Panics
/// If `capacity` is 0.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let (work, results) = pirn::channel::ordered(4);
/// pirn::spawn(move || {
///     for n in 0..100_u64 {
///         work.spawn(move || n * n).unwrap();
///     }
/// });
/// let squares: Vec<u64> = results.into_iter().map(Result::unwrap).collect();
/// assert!(squares.iter().copied().eq((0..100).map(|n| n * n)));
/// ```
#[doc(alias = "FuturesOrdered")]
#[doc(alias = "buffered")]
pub fn ordered<T>(capacity: usize) -> (OrderedSender<T>, Receiver<Result<T, JoinError>>) {
    assert!(capacity > 0, "an ordered channel needs room for one result");
    let (sender, receiver) = bounded(capacity);
    let line = Arc::new(Line {
        sender,
        late: Lock::new(Late {
            first: 0,
            results: VecDeque::new(),
            delivering: false,
        }),
    });
    (OrderedSender { line }, receiver)
}

/// The submitting end of an [`ordered`] channel; clones submit to the same channel.
///
/// The channel closes when the last one has been dropped and all submitted work has ended.
///
/// # Examples
/// ```
/// let (work, results) = pirn::channel::ordered(2);
/// let other = work.clone();
/// work.spawn(|| "first").unwrap();
/// other.spawn(|| "second").unwrap();
/// drop((work, other));
/// let results: Vec<_> = results.into_iter().map(Result::unwrap).collect();
/// assert_eq!(results, ["first", "second"]);
/// ```
pub struct OrderedSender<T> {
    line: Arc<Line<T>>,
}

struct Line<T> {
    sender: Sender<Result<T, JoinError>>,
    late: Lock<Late<T>>,
}

struct Late<T> {
    /// The number of the place at the front.
    first: u64,
    results: VecDeque<Option<Result<T, JoinError>>>,
    delivering: bool,
}

impl<T: Send + 'static> OrderedSender<T> {
    /// Runs `f` in a fiber; its result is received after those of all earlier submissions. Waits
    /// while `capacity` results are being computed or waiting to be received.
    ///
    /// A panic of `f` arrives as [`JoinError::Panicked`]. If its fiber never started,
    /// [`JoinError::NotRun`] arrives.
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed or all receivers are gone, `Interrupted` if the
    /// caller is interrupted. Both return `f`.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait. If
    /// there is no runtime and the default one cannot be created.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let (work, results) = pirn::channel::ordered(4);
    /// work.spawn(|| 6 * 7).unwrap();
    /// work.spawn(|| "x".parse::<i32>().unwrap()).unwrap();
    /// assert_eq!(results.recv().unwrap().unwrap(), 42);
    /// // The second closure has panicked.
    /// assert!(results.recv().unwrap().unwrap_err().is_panic());
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, f: F) -> Result<(), SendError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        match self.line.sender.shared().reserve() {
            Ok(()) => {}
            Err(SendError::Disconnected(())) => return Err(SendError::Disconnected(f)),
            Err(SendError::Interrupted((), interrupt)) => {
                return Err(SendError::Interrupted(f, interrupt));
            }
        }
        let place = self.line.place();
        spawn(move || {
            // UNWIND: `f` is responsible for its own broken state; the payload goes to the
            // receiver.
            let result = catch_unwind(AssertUnwindSafe(f));
            place.fill(result.map_err(|panic| JoinError::Panicked(Payload::new(panic))));
        })
        .detach();
        Ok(())
    }
}

impl<T> OrderedSender<T> {
    /// Closes the channel: nothing more can be submitted, and results of earlier submissions are
    /// still received. Returns true for the one call that closed it.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (work, results) = pirn::channel::ordered(2);
    /// work.spawn(|| 1).unwrap();
    /// assert!(work.close());
    /// assert!(work.spawn(|| 2).is_err());
    /// assert_eq!(results.recv().unwrap().unwrap(), 1);
    /// assert!(results.recv().is_err());
    /// ```
    pub fn close(&self) -> bool {
        self.line.sender.close()
    }

    /// Returns true once nothing can be submitted any more.
    ///
    /// # Examples
    /// ```
    /// let (work, results) = pirn::channel::ordered::<u32>(1);
    /// assert!(!work.is_closed());
    /// drop(results);
    /// assert!(work.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.line.sender.is_closed()
    }
}

impl<T> Line<T> {
    /// Reserves the next place.
    fn place(self: &Arc<Self>) -> Place<T> {
        let mut late = self.late.lock();
        late.results.push_back(None);
        let number = late.first + late.results.len() as u64 - 1;
        drop(late);
        Place {
            line: Some((Arc::clone(self), number)),
        }
    }

    fn fill(&self, number: u64, result: Result<T, JoinError>) {
        let mut late = self.late.lock();
        let index =
            usize::try_from(number - late.first).expect("fits: it is in the line");
        late.results[index] = Some(result);
        if late.delivering {
            return;
        }
        late.delivering = true;
        drop(late);
        // OR2.
        while let Some(result) = self.next() {
            self.sender.shared().store_reserved(result);
        }
    }

    /// Takes the next result that is present, or ends the delivery.
    fn next(&self) -> Option<Result<T, JoinError>> {
        let mut late = self.late.lock();
        if let Some(Some(_)) = late.results.front() {
            late.first += 1;
            return late.results.pop_front().flatten();
        }
        late.delivering = false;
        None
    }
}

/// A place for a result. If dropped unfilled, it reports that its fiber never ran (OR1).
struct Place<T> {
    line: Option<(Arc<Line<T>>, u64)>,
}

impl<T> Place<T> {
    fn fill(mut self, result: Result<T, JoinError>) {
        if let Some((line, number)) = self.line.take() {
            line.fill(number, result);
        }
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        if let Some((line, number)) = self.line.take() {
            line.fill(number, Err(JoinError::NotRun));
        }
    }
}

impl<T> Clone for OrderedSender<T> {
    fn clone(&self) -> Self {
        OrderedSender {
            line: Arc::clone(&self.line),
        }
    }
}

impl<T> fmt::Debug for OrderedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OrderedSender")
            .field(&self.line.sender)
            .finish()
    }
}
