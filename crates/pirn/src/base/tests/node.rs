//! A stand-in for a fiber header: one link, and a payload that must be seen whole by whoever
//! takes the node out of a queue, exactly one thread each time it is put in.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::list::{Link, Linked};
use crate::shim::UnsafeCell;

#[derive(Debug)]
pub(crate) struct Node {
    link: Link<Node>,
    id: usize,
    /// Even while nobody has it, odd from [`Nodes::ready`] to [`Nodes::take`].
    payload: UnsafeCell<u32>,
    /// How often it was taken. Not the shim's: the count must order nothing.
    taken: AtomicU32,
}

// SAFETY: the payload is what the queue under test must order; loom checks that it does.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}

// SAFETY: a test keeps its `Nodes` until the last queue and thread that knew them is gone;
// the link is a field that is only ever shared.
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

    /// Node `id`, written to and about to be put into a queue.
    pub(crate) fn ready(&self, id: usize) -> NonNull<Node> {
        self.0[id].payload.with_mut(|payload| {
            // SAFETY: nobody has the node; that a queue hands it over whole is the test.
            unsafe { *payload += 1 }
        });
        NonNull::from(&self.0[id])
    }

    /// Reads the node that came out of a queue, and returns its number.
    ///
    /// # Panics
    /// If it was not made ready before.
    pub(crate) fn take(&self, node: NonNull<Node>) -> usize {
        let id = self.id(node);
        self.0[id].payload.with_mut(|payload| {
            // SAFETY: the node was just taken out, so it is this thread's: the test.
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

    pub(crate) fn id(&self, node: NonNull<Node>) -> usize {
        // SAFETY: the node is one of this test's, all alive.
        unsafe { node.as_ref() }.id
    }

    /// Once all threads are joined: how often each node was taken.
    pub(crate) fn taken(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|node| node.taken.load(Ordering::Relaxed))
    }

    /// Once all threads are joined: every node was taken exactly once.
    pub(crate) fn assert_each_once(&self) {
        let wrong = self.taken().enumerate().find(|&(_, times)| times != 1);
        assert_eq!(wrong, None, "(node, times taken)");
    }
}

/// Another type of node, of which there is none.
#[derive(Debug)]
pub(crate) enum Stranger {}

// SAFETY: there is no such node.
unsafe impl Linked for Stranger {
    fn link(_: NonNull<Self>) -> NonNull<Link<Self>> {
        unreachable!("no node of this type exists")
    }
}
