//! The model of a queue.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::model::Model;

/// The [`Model`] of a queue without a bound: first in, first out. At first it is empty.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Queue, QueueOp, QueueRet};
///
/// let history = History::<Queue<u32>>::new();
/// history.invoke(QueueOp::Enqueue(1)).done(QueueRet::Enqueued);
/// history.invoke(QueueOp::Enqueue(2)).done(QueueRet::Enqueued);
/// history.invoke(QueueOp::Dequeue).done(QueueRet::Dequeued(Some(2)));
/// assert!(history.check().is_err()); // 1 comes first
/// ```
#[derive(Debug)]
pub struct Queue<T> {
    value: PhantomData<T>,
}

/// An operation on a [`Queue`].
///
/// # Examples
/// ```
/// use pirn_sim::history::QueueOp;
///
/// assert_eq!(format!("{:?}", QueueOp::Enqueue(7)), "Enqueue(7)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueOp<T> {
    /// Appends a value: [`QueueRet::Enqueued`].
    Enqueue(T),
    /// Takes the first value, if there is one: [`QueueRet::Dequeued`].
    Dequeue,
}

/// The result of an operation on a [`Queue`].
///
/// # Examples
/// ```
/// use pirn_sim::history::QueueRet;
///
/// assert_ne!(QueueRet::Dequeued(Some(7)), QueueRet::Dequeued(None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueRet<T> {
    /// The value was appended.
    Enqueued,
    /// The value that was taken; `None` if the queue was empty.
    Dequeued(Option<T>),
}

impl<T: Clone + Debug + Eq + Hash> Model for Queue<T> {
    type Op = QueueOp<T>;
    type Ret = QueueRet<T>;
    type State = VecDeque<T>;

    fn init() -> VecDeque<T> {
        VecDeque::new()
    }

    fn step(
        state: &VecDeque<T>,
        op: &QueueOp<T>,
    ) -> impl IntoIterator<Item = (QueueRet<T>, VecDeque<T>)> {
        let mut after = state.clone();
        let ret = match op {
            QueueOp::Enqueue(value) => {
                after.push_back(value.clone());
                QueueRet::Enqueued
            }
            QueueOp::Dequeue => QueueRet::Dequeued(after.pop_front()),
        };
        [(ret, after)]
    }
}
