//! Receiving as iteration, and sending what an iterator yields.

use std::fmt;

use super::error::RecvError;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::wait::Interrupt;

/// An iterator that receives values by reference until the channel is closed and drained, or the
/// caller is interrupted; made by [`Receiver::iter`].
///
/// It is not [fused](std::iter::FusedIterator). An interrupt ends it without losing a value. When
/// the caller is not interrupted any more, such as after the code under a deadline, it yields the
/// next one. Once the channel is closed and drained, it always returns `None`.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(3);
/// for i in 1..=3 {
///     tx.send(i).unwrap();
/// }
/// tx.close();
/// let mut values = rx.iter();
/// assert_eq!(values.by_ref().sum::<i32>(), 6);
/// assert_eq!(values.interrupted(), None);
/// ```
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
    interrupted: Option<Interrupt>,
}

/// An iterator that receives values until a receive would wait; made by [`Receiver::try_iter`].
///
/// It is not [fused](std::iter::FusedIterator): after `None` it yields values that have been sent
/// since.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::unbounded();
/// tx.send("a").unwrap();
/// tx.send("b").unwrap();
/// let mut waiting = rx.try_iter();
/// assert_eq!(waiting.next(), Some("a"));
/// assert_eq!(waiting.next(), Some("b"));
/// assert_eq!(waiting.next(), None);
/// ```
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// An iterator that receives values as [`Iter`] does, and owns its receiver. Like that, it is not
/// [fused](std::iter::FusedIterator).
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(2);
/// tx.send("a").unwrap();
/// tx.send("b").unwrap();
/// drop(tx);
/// let mut values = rx.into_iter();
/// assert_eq!(values.by_ref().collect::<Vec<_>>(), ["a", "b"]);
/// assert_eq!(values.interrupted(), None);
/// ```
pub struct IntoIter<T> {
    receiver: Receiver<T>,
    interrupted: Option<Interrupt>,
}

impl<T> Receiver<T> {
    /// Returns an iterator that receives values, waiting as [`recv`](Receiver::recv) does.
    ///
    /// The iteration ends when the channel is closed and drained, *or* when the caller is
    /// interrupted. [`Iter::interrupted`] distinguishes the two.
    ///
    /// # Panics
    /// A step panics as [`recv`](Receiver::recv) does.
    ///
    /// # Cancellation
    /// Each step is an interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(2);
    /// let sender = pirn::spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
    /// let mut sum = 0;
    /// for n in rx.iter() {
    ///     sum += n;
    /// }
    /// assert_eq!(sum, 6);
    /// sender.join().unwrap();
    /// ```
    #[doc(alias = "range")]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            receiver: self,
            interrupted: None,
        }
    }

    /// Returns an iterator that receives values until a receive would wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(8);
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// // `tx` still exists: `iter` would wait for more values.
    /// assert_eq!(rx.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(rx.try_iter().next(), None);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter {
            receiver: self,
            interrupted: None,
        }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> Iter<'_, T> {
    /// Returns the interrupt that ended the iteration. `None` if the iteration has not ended, or
    /// ended because the channel is closed and drained.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    /// use pirn::cancel::Token;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(1).unwrap();
    /// let token = Token::new();
    /// token.enter(|| {
    ///     let mut values = rx.iter();
    ///     assert_eq!(values.next(), Some(1));
    ///     token.cancel();
    ///     assert_eq!(values.next(), None);
    ///     assert_eq!(values.interrupted(), Some(Interrupt::Cancelled));
    /// });
    /// ```
    pub fn interrupted(&self) -> Option<Interrupt> {
        self.interrupted
    }
}

impl<T> IntoIter<T> {
    /// Returns the interrupt that ended the iteration. `None` if the iteration has not ended, or
    /// ended because the channel is closed and drained.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    /// use pirn::cancel::Token;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(1).unwrap();
    /// let token = Token::new();
    /// token.enter(|| {
    ///     let mut values = rx.into_iter();
    ///     assert_eq!(values.next(), Some(1));
    ///     token.cancel();
    ///     assert_eq!(values.next(), None);
    ///     assert_eq!(values.interrupted(), Some(Interrupt::Cancelled));
    /// });
    /// ```
    pub fn interrupted(&self) -> Option<Interrupt> {
        self.interrupted
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        next(self.receiver, &mut self.interrupted)
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        next(&self.receiver, &mut self.interrupted)
    }
}

/// Sends what an iterator yields, waiting as [`send`](Sender::send) does.
///
/// It stops when the channel is closed, *or* when the caller is interrupted: the value at hand is
/// dropped, and no more values are taken from the iterator. [`is_closed`](Sender::is_closed)
/// distinguishes the two. [`send_many`](Sender::send_many) returns the error, and keeps the values
/// that were not sent.
///
/// # Panics
/// As [`send`](Sender::send).
///
/// # Cancellation
/// Each step is an interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// let (mut tx, rx) = pirn::channel::bounded(2);
/// let reader = pirn::spawn(move || rx.iter().take(5).collect::<Vec<_>>());
/// tx.extend(1..); // stops when the reader has dropped `rx`
/// assert_eq!(reader.join().unwrap(), [1, 2, 3, 4, 5]);
/// ```
impl<T> Extend<T> for Sender<T> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            if self.send(value).is_err() {
                return;
            }
        }
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(self.receiver).finish()
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TryIter").field(self.receiver).finish()
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.receiver).finish()
    }
}

#[track_caller]
fn next<T>(receiver: &Receiver<T>, interrupted: &mut Option<Interrupt>) -> Option<T> {
    match receiver.recv() {
        Ok(value) => {
            *interrupted = None;
            Some(value)
        }
        Err(RecvError::Disconnected) => None,
        Err(RecvError::Interrupted(interrupt)) => {
            *interrupted = Some(interrupt);
            None
        }
    }
}
