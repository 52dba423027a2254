//! A queue of nodes that are never freed: one link for each, first in first out.
//!
//! Invariants:
//! * T1. Nodes of a [`Linked`] type are never freed: every pointer to one is valid for the life of
//!   the process. So no sequence of calls on a [`Fifo`] can reach freed memory, and its functions
//!   are safe. A node put into two queues would corrupt both, but all their nodes would be alive.
//! * T2. A node is in at most one single-link queue (ready list, inbox, injector shard, …). Its
//!   link belongs to that queue. Passing the node to another queue passes the link too. The queue
//!   in between (a release store, a lock) orders the two owners, so the link itself is read and
//!   written relaxed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::ptr::{self, NonNull};

use crate::shim::atomic::{AtomicPtr, Ordering};

/// The one link of a node that waits in single-link queues.
#[derive(Debug)]
pub(crate) struct Link<T>(AtomicPtr<T>);

impl<T> Link<T> {
    pub(crate) fn new() -> Self {
        Link(AtomicPtr::new(ptr::null_mut()))
    }
}

/// A pointer to a node that is never freed (T1).
#[repr(transparent)]
pub(crate) struct NodePtr<T>(NonNull<T>);

impl<T> NodePtr<T> {
    /// # Safety
    /// The object is never freed or moved, and no `&mut` to it exists any more.
    #[inline(always)]
    pub(crate) const unsafe fn new(node: NonNull<T>) -> NodePtr<T> {
        NodePtr(node)
    }

    /// Returns `None` for null.
    ///
    /// # Safety
    /// As [`new`](Self::new), unless `node` is null.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(node: *mut T) -> Option<NodePtr<T>> {
        NonNull::new(node).map(NodePtr)
    }
}

impl<T> NodePtr<T> {
    #[inline(always)]
    pub(crate) const fn as_non_null(self) -> NonNull<T> {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }

    pub(crate) fn addr(self) -> usize {
        self.0.addr().get()
    }
}

impl<T: Linked> NodePtr<T> {
    /// Returns the node.
    #[inline(always)]
    pub(crate) fn get<'a>(self) -> &'a T {
        // SAFETY: T1, and the contract of `new`.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Linked> Deref for NodePtr<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.get()
    }
}

impl<T> Clone for NodePtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for NodePtr<T> {}

impl<T> PartialEq for NodePtr<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for NodePtr<T> {}

impl<T> Hash for NodePtr<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> fmt::Debug for NodePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A node with one link.
///
/// # Safety
/// * T1: objects of this type are never freed or moved once a pointer to them has been given
///   to a queue.
/// * `link` returns the same field of `node` each time, and no `&mut` to that field exists
///   after the first insertion.
pub(crate) unsafe trait Linked: Sized {
    fn link(node: NonNull<Self>) -> NonNull<Link<Self>>;
}

/// Makes `next` the successor of `node`. For queues that build links before the node is published
/// (the inbox); the caller owns the node (T2).
#[inline]
pub(crate) fn set_next<T: Linked>(node: NodePtr<T>, next: Option<NodePtr<T>>) {
    let next = next.map_or(ptr::null_mut(), NodePtr::as_ptr);
    // SAFETY: T1: the node is alive, and its link is only ever shared.
    let link = unsafe { T::link(node.as_non_null()).as_ref() };
    link.0.store(next, Ordering::Relaxed);
}

#[inline]
fn next<T: Linked>(node: NodePtr<T>) -> Option<NodePtr<T>> {
    // SAFETY: T1: the node is alive, and its link is only ever shared.
    let link = unsafe { T::link(node.as_non_null()).as_ref() };
    // SAFETY: T1: only nodes are linked.
    unsafe { NodePtr::from_raw(link.0.load(Ordering::Relaxed)) }
}

/// A first-in first-out queue of nodes, owned by one thread at a time.
pub(crate) struct Fifo<T> {
    head: Option<NodePtr<T>>,
    tail: Option<NodePtr<T>>,
    len: u32,
}

// SAFETY: T2: the queue owns the links of its nodes and goes to the other thread whole; it
// never touches anything else of a node.
unsafe impl<T: Linked> Send for Fifo<T> {}

impl<T> Fifo<T> {
    pub(crate) const fn new() -> Self {
        Fifo {
            head: None,
            tail: None,
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }
}

impl<T: Linked> Fifo<T> {
    /// Takes over a chain that was built newest first, and reverses it.
    pub(crate) fn from_newest_first(newest: Option<NodePtr<T>>) -> Self {
        let mut fifo = Fifo::new();
        let mut rest = newest;
        while let Some(node) = rest {
            rest = next(node);
            fifo.push_front(node);
        }
        fifo
    }

    #[inline]
    pub(crate) fn push_back(&mut self, node: NodePtr<T>) {
        set_next(node, None);
        match self.tail.replace(node) {
            Some(last) => set_next(last, Some(node)),
            None => self.head = Some(node),
        }
        self.len += 1;
    }

    #[inline]
    pub(crate) fn push_front(&mut self, node: NodePtr<T>) {
        set_next(node, self.head);
        self.head = Some(node);
        self.tail.get_or_insert(node);
        self.len += 1;
    }

    /// Returns the oldest node, without removing it.
    #[inline]
    pub(crate) fn front(&self) -> Option<NodePtr<T>> {
        self.head
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<NodePtr<T>> {
        let node = self.head?;
        self.head = next(node);
        if self.head.is_none() {
            self.tail = None;
        }
        self.len -= 1;
        Some(node)
    }

    /// Removes and returns the oldest node that is `wanted`. O(n).
    pub(crate) fn take_first(
        &mut self,
        mut wanted: impl FnMut(NodePtr<T>) -> bool,
    ) -> Option<NodePtr<T>> {
        let mut before = None;
        let mut at = self.head;
        while let Some(node) = at {
            let after = next(node);
            if !wanted(node) {
                (before, at) = (Some(node), after);
                continue;
            }
            match before {
                Some(before) => set_next(before, after),
                None => self.head = after,
            }
            if after.is_none() {
                self.tail = before;
            }
            self.len -= 1;
            return Some(node);
        }
        None
    }

    /// Moves all nodes of `other` to the back.
    pub(crate) fn append(&mut self, other: Fifo<T>) {
        let Some(first) = other.head else { return };
        match self.tail {
            Some(last) => set_next(last, Some(first)),
            None => self.head = Some(first),
        }
        self.tail = other.tail;
        self.len += other.len;
    }

    /// Removes the first `n` nodes (all, if there are fewer), in their order. O(n).
    pub(crate) fn split_front(&mut self, n: u32) -> Fifo<T> {
        if n >= self.len {
            return std::mem::take(self);
        }
        let mut front = Fifo::new();
        for _ in 0..n {
            if let Some(node) = self.pop_front() {
                front.push_back(node);
            }
        }
        front
    }
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo::new()
    }
}

impl<T> fmt::Debug for Fifo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fifo")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
