//! Recording: which operation was invoked and returned, in which order.
//!
//! Owns: the list of operations and the order of their events. Does not own: the search for an
//! order of operations (`prefix`, `search`) and the report (`timeline`).
//!
//! The lock is held for a few pushes and copies of pointers. No code of a model runs under it, and
//! no operation of pirn, so recording is no choice of a schedule.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pirn::spawn::FiberId;

use super::call::Call;
use super::model::Model;
use super::prefix;
use super::timeline::NotLinearizable;

/// The operations on an object, with the order in which they began and ended.
///
/// Clones share the record. Fibers and plain threads may use it. To record is no choice of the
/// schedule and no interruption point.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Queue, QueueOp, QueueRet};
///
/// let history = History::<Queue<u32>>::new();
/// let dequeue = history.invoke(QueueOp::Dequeue);
/// history.invoke(QueueOp::Enqueue(7)).done(QueueRet::Enqueued);
/// dequeue.done(QueueRet::Dequeued(Some(7))); // both overlap
/// assert!(history.check().is_ok());
/// history.invoke(QueueOp::Dequeue).done(QueueRet::Dequeued(Some(7)));
/// assert!(history.check().is_err()); // it was enqueued once
/// ```
pub struct History<M: Model> {
    log: Arc<Mutex<Log<M>>>,
}

/// An operation that has been invoked, and has not returned.
///
/// Without [`done`](Pending::done) its outcome is unknown: it takes effect at any later moment, or
/// never. That is right for an operation that panics, is cancelled or exceeds its time.
///
/// # Examples
/// ```
/// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
///
/// let history = History::<Register<u32>>::new();
/// drop(history.invoke(RegisterOp::Write(7)));
/// history.invoke(RegisterOp::Read).done(RegisterRet::Value(0));
/// history.invoke(RegisterOp::Read).done(RegisterRet::Value(7));
/// assert!(history.check().is_ok());
/// ```
#[must_use = "an operation that is dropped has an unknown outcome"]
pub struct Pending<M: Model> {
    log: Arc<Mutex<Log<M>>>,
    /// The place of the operation in `Log::calls`.
    index: usize,
}

impl<M: Model> History<M> {
    /// Returns a history without operations.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::history::{History, Register};
    ///
    /// assert!(History::<Register<u32>>::new().check().is_ok());
    /// ```
    #[must_use]
    pub fn new() -> History<M> {
        let log = Log {
            calls: Vec::new(),
            events: 0,
            clients: HashMap::new(),
        };
        History {
            log: Arc::new(Mutex::new(log)),
        }
    }

    /// Records that the caller begins `op`. A report has a line for each fiber or thread that has
    /// called this.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
    ///
    /// let history = History::<Register<u32>>::new();
    /// let pending = history.invoke(RegisterOp::Read);
    /// let value = 0; // the operation itself
    /// pending.done(RegisterRet::Value(value));
    /// ```
    pub fn invoke(&self, op: M::Op) -> Pending<M> {
        let op = Arc::new(op);
        let client = pirn::current().id();
        let mut log = lock(&self.log);
        let next = log.clients.len() + 1;
        let client = *log.clients.entry(client).or_insert(next);
        let invoked = log.next_event();
        let index = log.calls.len();
        log.calls.push(Call {
            client,
            op,
            invoked,
            returned: None,
        });
        drop(log);
        Pending {
            log: Arc::clone(&self.log),
            index,
        }
    }

    /// Looks for an order of the operations that explains their results. Operations that have not
    /// returned may be in it or not.
    ///
    /// # Errors
    /// If there is no such order. [`NotLinearizable`] shows the first operations that have none.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
    ///
    /// let history = History::<Register<u32>>::new();
    /// history.invoke(RegisterOp::Write(7)).done(RegisterRet::Written);
    /// history.invoke(RegisterOp::Read).done(RegisterRet::Value(0));
    /// let error = history.check().unwrap_err();
    /// assert!(error.to_string().contains("Read -> Value(0)"));
    /// ```
    pub fn check(&self) -> Result<(), NotLinearizable> {
        let calls = lock(&self.log).calls.clone();
        prefix::check(&calls)
    }
}

impl<M: Model> Clone for History<M> {
    fn clone(&self) -> History<M> {
        History {
            log: Arc::clone(&self.log),
        }
    }
}

impl<M: Model> Default for History<M> {
    fn default() -> History<M> {
        History::new()
    }
}

impl<M: Model> fmt::Debug for History<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations = lock(&self.log).calls.len();
        f.debug_struct("History")
            .field("operations", &operations)
            .finish()
    }
}

impl<M: Model> Pending<M> {
    /// Records that the operation has returned `ret`.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::history::{History, Map, MapOp};
    ///
    /// let history = History::<Map<&str, u32>>::new();
    /// history.invoke(MapOp::Insert("a", 1)).done(None);
    /// history.invoke(MapOp::Get("a")).done(Some(1));
    /// assert!(history.check().is_ok());
    /// ```
    pub fn done(self, ret: M::Ret) {
        let ret = Arc::new(ret);
        let mut log = lock(&self.log);
        let at = log.next_event();
        log.calls[self.index].returned = Some((at, ret));
    }

    /// Leaves it open whether the operation has taken effect. The same as to drop it.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::history::{History, Register, RegisterOp, RegisterRet};
    ///
    /// let history = History::<Register<u32>>::new();
    /// history.invoke(RegisterOp::Write(7)).unknown();
    /// history.invoke(RegisterOp::Read).done(RegisterRet::Value(7));
    /// history.invoke(RegisterOp::Read).done(RegisterRet::Value(0));
    /// assert!(history.check().is_err()); // it has, before the first read
    /// ```
    pub fn unknown(self) {
        drop(self);
    }
}

impl<M: Model> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = Arc::clone(&lock(&self.log).calls[self.index].op);
        f.debug_tuple("Pending").field(&op).finish()
    }
}

struct Log<M: Model> {
    /// In the order of their invocations.
    calls: Vec<Call<M>>,
    /// The number of invocations and returns so far.
    events: usize,
    /// The number of each fiber or thread, from 1 in the order of their first operations.
    /// Identities of fibers differ between runs of a campaign.
    clients: HashMap<FiberId, usize>,
}

impl<M: Model> Log<M> {
    fn next_event(&mut self) -> usize {
        self.events += 1;
        self.events - 1
    }
}

/// A panic under the lock can only be one of the allocator's, before anything has changed.
fn lock<M: Model>(log: &Mutex<Log<M>>) -> MutexGuard<'_, Log<M>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
