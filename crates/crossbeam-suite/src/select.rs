//! Choosing one of several operations, in two steps.
//!
//! The first step is a `pirn::select::Select` over one case for each operation. The result of the
//! case that won is stored in its handle, under the number that the second step uses.

use std::fmt;
use std::marker::PhantomData;
use std::thread;
use std::time::{Duration, Instant};

use pirn::channel::ReadyCase;
use pirn::select::Case;
use pirn::time::now;

use crate::error::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError,
    TrySelectError,
};
use crate::fibers::polled;
use crate::kept::Id;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// Waits for one of several operations.
#[derive(Clone)]
pub struct Select<'a> {
    /// Each handle, with the index of its operation and its own address.
    handles: Vec<(&'a (dyn SelectHandle + Sync), usize, usize)>,
    next_index: usize,
    biased: bool,
}

/// A chosen operation that is to be completed.
#[must_use]
pub struct SelectedOperation<'a> {
    index: usize,
    /// The address of its handle.
    handle: usize,
    id: Id,
    finished: bool,
    marker: PhantomData<&'a ()>,
}

/// One end of a channel, of any type.
pub trait SelectHandle {
    /// Returns the operation of this end: a send or a receive.
    fn operation(&self) -> Box<dyn Operation + '_>;

    /// Returns a case that wins when the operation would not wait.
    fn ready_case(&self) -> ReadyCase<'_>;
}

/// An operation that may be chosen.
pub trait Operation {
    /// The operation as pirn sees it.
    fn case(&mut self) -> &mut dyn Case;

    /// Stores the result of the operation under `id`.
    fn keep(self: Box<Self>, id: Id);
}

/// The limit of a wait.
#[derive(Debug, Copy, Clone)]
enum Limit {
    Now,
    At(Instant),
    None,
}

impl<'a> Select<'a> {
    /// Returns a select without operations that chooses at random.
    pub fn new() -> Self {
        Select {
            handles: Vec::new(),
            next_index: 0,
            biased: false,
        }
    }

    /// Returns a select without operations that chooses the first possible operation.
    pub fn new_biased() -> Self {
        Select {
            biased: true,
            ..Select::new()
        }
    }

    /// Adds a send, and returns its index.
    pub fn send<T: Send>(&mut self, sender: &'a Sender<T>) -> usize {
        self.add(sender, address(sender))
    }

    /// Adds a receive, and returns its index.
    pub fn recv<T: Send>(&mut self, receiver: &'a Receiver<T>) -> usize {
        self.add(receiver, address(receiver))
    }

    fn add(&mut self, handle: &'a (dyn SelectHandle + Sync), address: usize) -> usize {
        let index = self.next_index;
        self.handles.push((handle, index, address));
        self.next_index += 1;
        index
    }

    /// Removes the operation with this index; the others keep theirs.
    ///
    /// # Panics
    /// If no operation has this index.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next_index, "index out of bounds");
        let at = self.handles.iter().position(|handle| handle.1 == index);
        self.handles
            .remove(at.expect("no operation with this index"));
    }

    /// Chooses an operation that is possible now.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        choose(&self.plain(), Limit::Now, self.biased).ok_or(TrySelectError)
    }

    /// Chooses an operation, waiting until one is possible.
    ///
    /// # Panics
    /// If no operation has been added.
    pub fn select(&mut self) -> SelectedOperation<'a> {
        assert!(!self.handles.is_empty(), "{NOTHING}");
        let chosen = choose(&self.plain(), Limit::None, self.biased);
        chosen.expect("a wait without a limit")
    }

    /// Chooses an operation, waiting no longer than `timeout`.
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        choose(&self.plain(), limit(timeout), self.biased).ok_or(SelectTimeoutError)
    }

    /// Chooses an operation, waiting no longer than until `deadline`.
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        choose(&self.plain(), Limit::At(deadline), self.biased).ok_or(SelectTimeoutError)
    }

    /// Returns the index of an operation that is ready now.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.watch(Limit::Now).ok_or(TryReadyError)
    }

    /// Returns the index of an operation that is ready, waiting for one.
    ///
    /// # Panics
    /// If no operation has been added.
    pub fn ready(&mut self) -> usize {
        assert!(!self.handles.is_empty(), "{NOTHING}");
        self.watch(Limit::None).expect("a wait without a limit")
    }

    /// Returns the index of an operation that is ready, waiting no longer than `timeout`.
    pub fn ready_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<usize, ReadyTimeoutError> {
        self.watch(limit(timeout)).ok_or(ReadyTimeoutError)
    }

    /// Returns the index of an operation that is ready, waiting no longer than until
    /// `deadline`.
    pub fn ready_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<usize, ReadyTimeoutError> {
        self.watch(Limit::At(deadline)).ok_or(ReadyTimeoutError)
    }

    fn plain(&self) -> Vec<Plain<'a>> {
        let plain = |&(handle, index, place): &(_, _, _)| (handle as _, index, place);
        self.handles.iter().map(plain).collect()
    }

    fn watch(&self, limit: Limit) -> Option<usize> {
        let handles = self.handles.iter();
        let mut cases: Vec<_> = handles.map(|handle| handle.0.ready_case()).collect();
        let won = wait(
            cases.iter_mut().map(|case| case as &mut dyn Case),
            limit,
            self.biased,
        )?;
        Some(self.handles[won].1)
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Select::new()
    }
}

impl SelectedOperation<'_> {
    /// The index of the operation.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Completes a send.
    ///
    /// # Panics
    /// If the operation is no send, or one to another sender.
    pub fn send<T>(mut self, sender: &Sender<T>, value: T) -> Result<(), SendError<T>> {
        let own = address(sender) == self.handle;
        assert!(own, "passed a sender that wasn't selected");
        self.finished = true;
        sender.finish(self.id, value)
    }

    /// Completes a receive.
    ///
    /// # Panics
    /// If the operation is no receive, or one from another receiver.
    pub fn recv<T>(mut self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        let own = address(receiver) == self.handle;
        assert!(own, "passed a receiver that wasn't selected");
        self.finished = true;
        receiver.finish(self.id)
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        assert!(
            self.finished || thread::panicking(),
            "dropped `SelectedOperation` without completing the operation"
        );
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}

/// An operation of the macros: its handle, its index, the handle's address.
type Labelled<'a> = (&'a dyn SelectHandle, usize, *const u8);

/// The same, with the address as a number.
type Plain<'a> = (&'a dyn SelectHandle, usize, usize);

/// Chooses for the macros, waiting until an operation is possible.
pub fn select<'a>(handles: &mut [Labelled<'a>], biased: bool) -> SelectedOperation<'a> {
    let chosen = choose(&plain(handles), Limit::None, biased);
    chosen.expect("a wait without a limit")
}

/// Chooses for the macros an operation that is possible now.
pub fn try_select<'a>(
    handles: &mut [Labelled<'a>],
    biased: bool,
) -> Option<SelectedOperation<'a>> {
    choose(&plain(handles), Limit::Now, biased)
}

/// Chooses for the macros, waiting no longer than `timeout`.
pub fn select_timeout<'a>(
    handles: &mut [Labelled<'a>],
    timeout: Duration,
    biased: bool,
) -> Option<SelectedOperation<'a>> {
    choose(&plain(handles), limit(timeout), biased)
}

fn plain<'a>(handles: &[Labelled<'a>]) -> Vec<Plain<'a>> {
    let plain = |&(handle, index, place): &Labelled<'a>| (handle, index, place.addr());
    handles.iter().map(plain).collect()
}

fn choose<'a>(
    handles: &[Plain<'a>],
    limit: Limit,
    biased: bool,
) -> Option<SelectedOperation<'a>> {
    let mut operations: Vec<_> = handles.iter().map(|(h, ..)| h.operation()).collect();
    let won = wait(operations.iter_mut().map(|o| o.case()), limit, biased)?;
    let id = Id::fresh();
    operations.swap_remove(won).keep(id);
    let (_, index, handle) = handles[won];
    Some(SelectedOperation {
        index,
        handle,
        id,
        finished: false,
        marker: PhantomData,
    })
}

/// Waits until pirn has completed one of the cases, and returns its position; `None` at the limit.
fn wait<'c>(
    cases: impl Iterator<Item = &'c mut dyn Case>,
    limit: Limit,
    biased: bool,
) -> Option<usize> {
    let mut select = if biased {
        pirn::select::Select::biased()
    } else {
        pirn::select::Select::new()
    };
    for case in cases {
        select.add(case);
    }
    match limit {
        Limit::Now => {
            let won = select.try_wait();
            if won.is_none() {
                polled();
            }
            won
        }
        Limit::At(deadline) => {
            let left = deadline.saturating_duration_since(now());
            select.wait_timeout(left).expect("no token is cancelled")
        }
        Limit::None => Some(select.wait().expect("no token is cancelled")),
    }
}

fn limit(timeout: Duration) -> Limit {
    now().checked_add(timeout).map_or(Limit::None, Limit::At)
}

fn address<T>(handle: &T) -> usize {
    std::ptr::from_ref(handle).addr()
}

const NOTHING: &str = "no operations have been added to `Select`";
