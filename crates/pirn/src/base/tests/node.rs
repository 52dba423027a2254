//! A stand-in for a fiber header: one link, and a payload that must be complete for the thread that
//! takes the node out of a queue: exactly one thread for each insertion.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::list::{Link, Linked, NodePtr};
use crate::shim::UnsafeCell;

#[derive(Debug)]
pub(crate) struct Node {
    link: Link<Node>,
    id: usize,
    /// Even while no thread has the node, odd from [`Nodes::ready`] to [`Nodes::take`].
    payload: UnsafeCell<u32>,
    /// The number of times that it was taken. Not from the shim: the count must order nothing.
    taken: AtomicU32,
}

// SAFETY: the queue under test must order accesses to the payload; loom checks that it does.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}

// SAFETY: a test keeps its `Nodes` until the last queue and thread that knew them is gone; the link
// is a field that is only ever shared.
unsafe impl Linked for Node {
    fn link(node: NonNull<Self>) -> NonNull<Link<Self>> {
        // SAFETY: the node is alive, as above.
        NonNull::from(&unsafe { node.as_ref() }.link)
    }
}

/// All nodes of one test.
#[derive(Debug)]
pub(crate) struct Nodes(Box<[Node]>);

impl Nodes {
    pub(crate) fn new(n: usize) -> Arc<Self> {
        let node = |id| Node {
            link: Link::new(),
            id,
            payload: UnsafeCell::new(0),
            taken: AtomicU32::new(0),
        };
        Arc::new(Nodes((0..n).map(node).collect()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes to node `id` and returns it, to be put into a queue.
    pub(crate) fn ready(&self, id: usize) -> NodePtr<Node> {
        self.0[id].payload.with_mut(|payload| {
            // SAFETY: no thread has the node; the test checks that the queue hands it over
            // completely.
            unsafe { *payload += 1 }
        });
        // SAFETY: as for `Linked`.
        unsafe { NodePtr::new(NonNull::from(&self.0[id])) }
    }

    /// Reads the node that came out of a queue, and returns its number.
    ///
    /// # Panics
    /// If it was not made ready before.
    pub(crate) fn take(&self, node: NodePtr<Node>) -> usize {
        let id = self.id(node);
        self.0[id].payload.with_mut(|payload| {
            // SAFETY: the node was just taken out, so it is this thread's, which is what the test
            // checks.
            let payload = unsafe { &mut *payload };
            assert!(
                *payload % 2 == 1,
                "node {id} taken twice, or its payload not seen"
            );
            *payload += 1;
        });
        self.0[id].taken.fetch_add(1, Ordering::Relaxed);
        id
    }

    pub(crate) fn id(&self, node: NodePtr<Node>) -> usize {
        node.id
    }

    /// Returns how often each node was taken. After all threads are joined.
    pub(crate) fn taken(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|node| node.taken.load(Ordering::Relaxed))
    }

    /// Asserts that every node was taken exactly once. After all threads are joined.
    pub(crate) fn assert_each_once(&self) {
        let wrong = self.taken().enumerate().find(|&(_, times)| times != 1);
        assert_eq!(wrong, None, "(node, times taken)");
    }
}

/// Another type of node, without values.
#[derive(Debug)]
pub(crate) enum Stranger {}

// SAFETY: there is no such node.
unsafe impl Linked for Stranger {
    fn link(_: NonNull<Self>) -> NonNull<Link<Self>> {
        unreachable!("no node of this type exists")
    }
}
