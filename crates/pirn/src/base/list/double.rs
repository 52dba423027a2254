//! A list that allows unlinking from the middle: two links for each node, under a lock.
//!
//! A node is linked if it has a predecessor or is the head; there is no flag.
//!
//! Invariants:
//! * D1. A node of a [`List`] stays where it is, alive, from its insertion until `remove` or
//!   `pop_front` has returned it (the caller of the insertion promised it).
//! * D2. The links of a node in a [`List`] are touched only through that list, hence by
//!   one thread at a time; outside a list both are empty.

use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};

use crate::shim::UnsafeCell;

/// A doubly linked list; a node can be unlinked from the middle. Kept under its owner's lock.
pub(crate) struct List<T> {
    head: Option<NonNull<T>>,
    tail: Option<NonNull<T>>,
}

// SAFETY: D2: the list owns the links of its nodes and goes to the other thread whole.
unsafe impl<T: DoublyLinked> Send for List<T> {}

impl<T> List<T> {
    pub(crate) const fn new() -> Self {
        List {
            head: None,
            tail: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Returns the node that has waited longest.
    pub(crate) fn front(&self) -> Option<NonNull<T>> {
        self.head
    }
}

impl<T: DoublyLinked> List<T> {
    /// Adds `node` at the back.
    ///
    /// # Safety
    /// * The node is in no list.
    /// * D1: it stays alive and in place until it has been taken out of this one.
    pub(crate) unsafe fn push_back(&mut self, node: NonNull<T>) {
        let last = self.tail.replace(node);
        // SAFETY: the caller's promise: the node is alive.
        unsafe { set_neighbours(node, Neighbours::new(last, None)) };
        match last {
            // SAFETY: D1: `last` is in this list.
            Some(last) => unsafe { edit(last, |n| n.next = Some(node)) },
            None => self.head = Some(node),
        }
    }

    /// Adds `node` at the front.
    ///
    /// # Safety
    /// As [`List::push_back`].
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the list is whole, its tests use it")
    )]
    pub(crate) unsafe fn push_front(&mut self, node: NonNull<T>) {
        let first = self.head.replace(node);
        // SAFETY: the caller's promise: the node is alive.
        unsafe { set_neighbours(node, Neighbours::new(None, first)) };
        match first {
            // SAFETY: D1: `first` is in this list.
            Some(first) => unsafe { edit(first, |n| n.prev = Some(node)) },
            None => self.tail = Some(node),
        }
    }

    /// Unlinks and returns the node that has waited longest.
    pub(crate) fn pop_front(&mut self) -> Option<NonNull<T>> {
        let node = self.head?;
        // SAFETY: D1: the head is in this list.
        unsafe { self.unlink(node) };
        Some(node)
    }

    /// Unlinks `node`, wherever it is. False: it was in no list.
    ///
    /// # Safety
    /// The node is alive, and in this list or in none.
    pub(crate) unsafe fn remove(&mut self, node: NonNull<T>) -> bool {
        // SAFETY: the caller's promise is the same.
        let linked = unsafe { self.is_linked(node) };
        if linked {
            // SAFETY: D1: the node is in this list.
            unsafe { self.unlink(node) };
        }
        linked
    }

    /// Returns true if `node` is in this list.
    ///
    /// # Safety
    /// The node is alive, and in this list or in none.
    pub(crate) unsafe fn is_linked(&self, node: NonNull<T>) -> bool {
        // SAFETY: the caller's promise: the node is alive.
        self.head == Some(node) || unsafe { neighbours(node) }.prev.is_some()
    }

    /// Walks from the front to the back; for reports.
    pub(crate) fn iter(&self) -> impl Iterator<Item = NonNull<T>> {
        // SAFETY: D1: every node reached is in this list, which stays borrowed meanwhile.
        std::iter::successors(self.head, |&node| unsafe { neighbours(node) }.next)
    }

    /// # Safety
    /// The node is in this list.
    unsafe fn unlink(&mut self, node: NonNull<T>) {
        // SAFETY: D1: the node is in this list.
        let Neighbours { prev, next } = unsafe { neighbours(node) };
        match prev {
            // SAFETY: D1: `prev` is in this list.
            Some(prev) => unsafe { edit(prev, |n| n.next = next) },
            None => self.head = next,
        }
        match next {
            // SAFETY: D1: `next` is in this list.
            Some(next) => unsafe { edit(next, |n| n.prev = prev) },
            None => self.tail = prev,
        }
        // SAFETY: D1: the node is in this list until this returns.
        unsafe { set_neighbours(node, Neighbours::new(None, None)) };
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List::new()
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}

/// The two links of a node that waits in a [`List`].
pub(crate) struct Links<T>(UnsafeCell<Neighbours<T>>);

impl<T> Links<T> {
    pub(crate) fn new() -> Self {
        Links(UnsafeCell::new(Neighbours::new(None, None)))
    }
}

impl<T> fmt::Debug for Links<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").finish_non_exhaustive()
    }
}

/// A node with two links.
///
/// # Safety
/// `links` returns the same field of `node` each time without reading anything else of it,
/// and no `&mut` to that field exists while the node is in a list.
pub(crate) unsafe trait DoublyLinked: Sized {
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>>;
}

/// A value with the links of the one list that it may be in.
// In this order: `links` finds the first field.
#[repr(C)]
pub(crate) struct Node<T> {
    links: Links<Node<T>>,
    value: T,
}

// SAFETY: always the first field, named without reading the node; this module never creates a
// unique reference to it while the node is in a list.
unsafe impl<T> DoublyLinked for Node<T> {
    #[inline]
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>> {
        node.cast()
    }
}

impl<T> Node<T> {
    pub(crate) fn of(value: T) -> Node<T> {
        Node {
            links: Links::new(),
            value,
        }
    }
}

impl<T> Deref for Node<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Neighbours of a node in a [`List`].
struct Neighbours<T> {
    prev: Option<NonNull<T>>,
    next: Option<NonNull<T>>,
}

impl<T> Neighbours<T> {
    fn new(prev: Option<NonNull<T>>, next: Option<NonNull<T>>) -> Self {
        Neighbours { prev, next }
    }
}

/// # Safety
/// The node is alive and its links are this thread's to read (D2).
unsafe fn neighbours<T: DoublyLinked>(node: NonNull<T>) -> Neighbours<T> {
    // SAFETY: the caller's promise.
    let links = unsafe { T::links(node).as_ref() };
    // SAFETY: D2: no other thread writes the links meanwhile.
    links.0.with(|n| unsafe { ptr::read(n) })
}

/// # Safety
/// The node is alive and its links are this thread's to write (D2).
unsafe fn set_neighbours<T: DoublyLinked>(node: NonNull<T>, to: Neighbours<T>) {
    // SAFETY: the caller's promise.
    unsafe { edit(node, |n| *n = to) };
}

/// # Safety
/// As [`set_neighbours`].
unsafe fn edit<T: DoublyLinked>(node: NonNull<T>, f: impl FnOnce(&mut Neighbours<T>)) {
    // SAFETY: the caller's promise.
    let links = unsafe { T::links(node).as_ref() };
    // SAFETY: D2: no other thread accesses the links meanwhile, and `f` only assigns.
    links.0.with_mut(|n| f(unsafe { &mut *n }));
}
