//! A select over cases that are collected at run time.

use std::fmt;
use std::time::Duration;

use super::Case;
use crate::base::choice::Operation;
use crate::wait::choice::{self, Choice, MOST, Order};
use crate::wait::{Interrupt, deadline_in, point};

/// A select over cases that are collected at run time. [`wait`](Select::wait) blocks until one of
/// them is ready, and completes that one.
///
/// A case is created by its source ([`recv_case`](crate::channel::Receiver::recv_case) and so on)
/// and lent to the select by [`add`](Select::add). When the case has won and the select is no
/// longer used, the case's `take` returns the result.
///
/// # Examples
/// The first value from any of many channels:
/// ```
/// use pirn::channel;
/// use pirn::select::Select;
///
/// let channels: Vec<_> = (0..10).map(|_| channel::bounded(1)).collect();
/// channels[3].0.send("three").unwrap();
///
/// let mut cases: Vec<_> = channels.iter().map(|(_, rx)| rx.recv_case()).collect();
/// let mut select = Select::new();
/// for case in &mut cases {
///     select.add(case);
/// }
/// let index = select.wait().unwrap();
/// assert_eq!((index, cases[index].take()), (3, Ok("three")));
/// ```
#[doc(alias = "reflect.Select")]
#[doc(alias = "select_all")]
pub struct Select<'a> {
    cases: Vec<&'a dyn choice::Case>,
    order: Order,
}

impl<'a> Select<'a> {
    /// Returns a select without cases that chooses at random among the ready ones.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let (mut one, mut other) = (rx.ready_case(), rx.ready_case());
    /// let mut select = Select::new();
    /// select.add(&mut one);
    /// select.add(&mut other);
    /// // Both are ready: either is chosen.
    /// assert!(select.wait().unwrap() < 2);
    /// ```
    pub fn new() -> Self {
        Select {
            cases: Vec::new(),
            order: Order::Random,
        }
    }

    /// Returns a select without cases that chooses the first ready one.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let (mut one, mut other) = (rx.ready_case(), rx.ready_case());
    /// let mut select = Select::biased();
    /// select.add(&mut one);
    /// select.add(&mut other);
    /// // Both are ready: the first is chosen.
    /// assert_eq!(select.wait(), Ok(0));
    /// ```
    #[doc(alias = "new_biased")]
    pub fn biased() -> Self {
        Select {
            cases: Vec::new(),
            order: Order::First,
        }
    }

    /// Adds a case and returns its index.
    ///
    /// # Panics
    /// If there are 4080 cases already.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    /// use std::time::Duration;
    ///
    /// let (_tx, rx) = pirn::channel::bounded::<u32>(1);
    /// let mut value = rx.recv_case();
    /// let mut limit = pirn::time::after_case(Duration::from_millis(1));
    /// let mut select = Select::new();
    /// assert_eq!(select.add(&mut value), 0);
    /// assert_eq!(select.add(&mut limit), 1);
    /// assert_eq!(select.wait(), Ok(1));
    /// ```
    #[doc(alias = "SelectCase")]
    pub fn add(&mut self, case: &'a mut dyn Case) -> usize {
        // Shared from here on: wakers access the case while it is published.
        assert!(
            self.cases.len() < MOST,
            "more than {MOST} cases in one select"
        );
        self.cases.push(case.shared());
        self.cases.len() - 1
    }

    /// Waits until a case is ready, completes it and returns its index. Without cases it waits
    /// until it is interrupted.
    ///
    /// # Errors
    /// The interrupt of the caller; no case has been completed.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let sender = pirn::spawn(move || tx.send(7).unwrap());
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Ok(7));
    /// sender.join().unwrap();
    /// ```
    #[doc(alias = "select")]
    #[track_caller]
    pub fn wait(&mut self) -> Result<usize, Interrupt> {
        match choice::choose(&self.cases, self.order, None)? {
            Choice::Case(index) => Ok(index),
            Choice::TimedOut => unreachable!("a wait without a time limit"),
        }
    }

    /// Completes a case if one is ready now, and returns its index.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.try_wait(), None);
    /// tx.send(7).unwrap();
    /// assert_eq!(select.try_wait(), Some(0));
    /// assert_eq!(case.take(), Ok(7));
    /// ```
    #[doc(alias = "try_select")]
    pub fn try_wait(&mut self) -> Option<usize> {
        point(Operation::TrySelect, 0);
        choice::choose_now(&self.cases, self.order)
    }

    /// Waits as [`wait`](Select::wait) does, for at most `timeout`; `None` if the time is up first.
    /// If the clock cannot express `timeout`, there is no limit.
    ///
    /// # Errors
    /// As [`wait`](Select::wait).
    ///
    /// # Panics
    /// As [`wait`](Select::wait).
    ///
    /// # Cancellation
    /// As [`wait`](Select::wait).
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(select.wait_timeout(limit), Ok(None));
    /// tx.send(7).unwrap();
    /// assert_eq!(select.wait_timeout(limit), Ok(Some(0)));
    /// assert_eq!(case.take(), Ok(7));
    /// ```
    #[doc(alias = "select_timeout")]
    #[track_caller]
    pub fn wait_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Option<usize>, Interrupt> {
        let chosen = choice::choose(&self.cases, self.order, deadline_in(timeout))?;
        Ok(match chosen {
            Choice::Case(index) => Some(index),
            Choice::TimedOut => None,
        })
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Select::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select")
            .field("cases", &self.cases.len())
            .finish_non_exhaustive()
    }
}
