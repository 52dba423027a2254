//! Token nodes: the tree along which cancellation passes from the canceller to fibers, callbacks
//! and waiters.
//!
//! Owns: the tree, and its tables. Does not own: the steps of a cancellation (`token_cancel`), the
//! code for which a token is in force (`scope`), or the effect in an interrupted call
//! (`wait::deadline`).
//!
//! A node is live, and then cancelled permanently. Its tables hold fibers that run code under it
//! (each *registers*), nodes below it, callbacks, and waiters for the cancellation itself.
//!
//! | step | by | under the node's lock | after it |
//! |---|---|---|---|
//! | register, adopt, call on, wait | a party of the tables | refused if cancelled, else entered in a table | |
//! | deregister, let go | the same | removed from the table | this node no longer reaches it |
//! | cancel 1 | the first canceller | the flag is set; nodes below are taken out | |
//! | cancel 2 | the same | registered fibers are taken out, a batch at a time, and REVOKED set in each | the fibers of the batch that were parked are enqueued |
//! | cancel 3 | the same | waiters are claimed, a batch at a time | they are enqueued |
//! | cancel 4 | the same | | steps 1 to 3 for each node below |
//! | cancel 5 | the same | a callback is taken out | it is called; so for each callback of all these nodes |
//!
//! Invariants:
//! * TK1. The flag is written once, under the lock, and no entry is added to a table afterwards.
//! * TK2. A fiber is notified under the lock, while it is registered. So a fiber that has
//!   deregistered is no longer notified by this node, and its header may be used for something
//!   else.
//! * TK3. A node is in its parents' tables from its creation until it is dropped, or they are
//!   cancelled. A node that is created under a cancelled parent is cancelled before it is shared. A
//!   node that is linked below another later is there until it is let go, or as above.
//!
//! LIVENESS: no cancellation is missed. The canceller finds each party that enters a table before
//! the flag is set; a later one sees the flag under the same lock.

use std::collections::HashSet;
use std::mem;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use ::slab::Slab;

use crate::base::mutant::mutant;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::waking::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, Ordering};

/// One node of the tree.
pub(crate) struct Node {
    pub(super) cancelled: AtomicBool,
    pub(super) tables: Lock<Tables>,
}

/// A function that is called when a node is cancelled.
pub(crate) type Call = Box<dyn FnOnce() + Send>;

/// The parties that a node's cancellation notifies.
pub(crate) struct Tables {
    pub(super) fibers: Slab<Registered>,
    pub(super) below: Slab<Weak<Node>>,
    pub(super) calls: Slab<Call>,
    pub(super) waiters: WaitQueue<()>,
    /// The entries of this node in the tables of others: those that it was created below, and one
    /// that it has been linked below since.
    pub(super) above: [Option<Link>; 3],
}

pub(super) struct Registered(pub(super) FiberPtr);

// SAFETY: H1: any thread may access a header's atomics; TK2 says for how long it means this fiber.
unsafe impl Send for Registered {}

pub(super) struct Link {
    pub(super) node: Arc<Node>,
    pub(super) key: usize,
}

impl Node {
    pub(super) fn new() -> Node {
        Node {
            cancelled: AtomicBool::new(false),
            tables: Lock::new(Tables {
                fibers: Slab::new(),
                below: Slab::new(),
                calls: Slab::new(),
                waiters: WaitQueue::new(),
                above: [const { None }; 3],
            }),
        }
    }

    /// Returns a pointer from which [`from_handle`](Node::from_handle) creates a reference again.
    pub(crate) fn handle(node: &Arc<Node>) -> NonNull<Node> {
        // SAFETY: an `Arc` points to something.
        unsafe { NonNull::new_unchecked(Arc::as_ptr(node).cast_mut()) }
    }

    /// Returns a further reference to the node behind `handle`.
    ///
    /// # Safety
    /// A reference to the node exists now.
    pub(crate) unsafe fn from_handle(handle: NonNull<Node>) -> Arc<Node> {
        // SAFETY: the caller's promise, and `handle` comes from `Arc::as_ptr`.
        unsafe { Arc::increment_strong_count(handle.as_ptr()) };
        // SAFETY: the reference that has just been counted.
        unsafe { Arc::from_raw(handle.as_ptr()) }
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        // ORDERING: Acquire: pairs with the Release in `cancel_one`. So the fiber that is
        // interrupted sees what the canceller did before.
        self.cancelled.load(Ordering::Acquire)
    }

    /// Registers `fiber` to be notified of a cancellation; returns `None` if the node is already
    /// cancelled. The fiber deregisters before it ends or leaves the code that this node is in
    /// force for.
    pub(crate) fn register(&self, fiber: FiberPtr) -> Option<usize> {
        self.enter(|tables| tables.fibers.insert(Registered(fiber)))
    }

    /// Reverts [`register`](Node::register).
    pub(crate) fn deregister(&self, key: usize) {
        self.tables.lock().fibers.try_remove(key);
    }

    /// Registers `call` to be called on cancellation; returns it if that has come already.
    pub(crate) fn call_on(&self, call: Call) -> Result<usize, Call> {
        let mut call = Some(call);
        let key = self.enter(|tables| tables.calls.insert(call.take().expect("once")));
        key.ok_or_else(|| call.take().expect("not entered"))
    }

    /// Removes a callback; the caller drops it, outside the lock.
    pub(crate) fn forget_call(&self, key: usize) -> Option<Call> {
        self.tables.lock().calls.try_remove(key)
    }

    /// Returns the lock with the queue of waiters for the cancellation itself.
    pub(crate) fn tables(&self) -> &Lock<Tables> {
        &self.tables
    }

    /// Returns whether a fiber or thread waits for this node or one below it to be cancelled, or
    /// has registered a callback. Code that only runs under it does not count.
    pub(crate) fn is_awaited(self: &Arc<Self>) -> bool {
        let (mut rest, mut seen) = (vec![Arc::clone(self)], HashSet::new());
        // No recursion: a tree may be deeper than a stack.
        while let Some(node) = rest.pop() {
            // A node may be below several others: with each level there may be twice as many ways.
            if !seen.insert(Arc::as_ptr(&node)) {
                continue;
            }
            let tables = node.tables.lock();
            if !node.is_cancelled()
                && (!tables.waiters.is_empty() || !tables.calls.is_empty())
            {
                return true;
            }
            rest.extend(tables.below.iter().filter_map(|(_, node)| node.upgrade()));
        }
        false
    }

    /// Unlinks `node`, which may be below this one.
    pub(crate) fn let_go(self: &Arc<Self>, node: &Node) {
        // Two fibers may have linked it: its creator, and one that has promoted a job just then.
        loop {
            let link = node.tables.lock().link_to(self).and_then(Option::take);
            let Some(Link { key, .. }) = link else {
                return;
            };
            self.tables.lock().below.try_remove(key);
        }
    }

    pub(super) fn adopt(&self, node: &Arc<Node>) -> Option<usize> {
        self.enter(|tables| tables.below.insert(Arc::downgrade(node)))
    }

    /// Adds an entry to a table, unless the node is cancelled (TK1).
    fn enter<R>(&self, f: impl FnOnce(&mut Tables) -> R) -> Option<R> {
        let mut tables = self.tables.lock();
        if self.is_cancelled() && !mutant!("registered_after_cancel") {
            return None;
        }
        Some(f(&mut tables))
    }
}

impl Tables {
    pub(crate) fn waiters(&mut self) -> &mut WaitQueue<()> {
        &mut self.waiters
    }

    /// Returns the entry of this node in the tables of `other`.
    pub(super) fn link_to(&mut self, other: &Arc<Node>) -> Option<&mut Option<Link>> {
        let is_to_other = |link: &Link| Arc::ptr_eq(&link.node, other);
        self.above
            .iter_mut()
            .find(|place| place.as_ref().is_some_and(is_to_other))
    }

    /// Takes the first fiber at or after `next`. No fiber is added any more (TK1).
    pub(super) fn take_fiber(&mut self, next: &mut usize) -> Option<Registered> {
        take(&mut self.fibers, next)
    }

    /// Takes the first callback at or after `next`. None is added any more (TK1).
    pub(super) fn take_call(&mut self, next: &mut usize) -> Option<Call> {
        take(&mut self.calls, next)
    }
}

/// Takes the first entry at or after `next`. There are none before it.
fn take<T>(entries: &mut Slab<T>, next: &mut usize) -> Option<T> {
    if entries.is_empty() {
        return None;
    }
    loop {
        let entry = entries.try_remove(*next);
        *next += 1;
        if entry.is_some() {
            return entry;
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut due = vec![mem::take(&mut self.tables.get_mut().above)];
        // No recursion: the last token of a chain drops all tokens above it.
        while let Some(links) = due.pop() {
            for Link { node, key } in links.into_iter().flatten() {
                drop(node.tables.lock().below.try_remove(key));
                if let Some(mut node) = Arc::into_inner(node) {
                    due.push(mem::take(&mut node.tables.get_mut().above));
                }
            }
        }
    }
}
