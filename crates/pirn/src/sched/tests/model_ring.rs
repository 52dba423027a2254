//! Models: every fiber leaves the ring exactly once and whole, by its owner or a thief. The ring
//! has four slots here, and its positions wrap.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::ring::{CAPACITY, Ring};
use crate::shim::thread::{self, JoinHandle};

/// The owner's ring, and one for each thief.
struct Table {
    nodes: Arc<Nodes>,
    ring: Ring<Node>,
    thieves: Vec<Ring<Node>>,
}

impl Table {
    /// Creates a table with `filled` of `nodes` nodes in the ring.
    fn new(nodes: usize, filled: usize, thieves: usize) -> Arc<Self> {
        let table = Table {
            nodes: Nodes::new(nodes),
            ring: Ring::starting_at(u32::MAX - 2),
            thieves: (0..thieves).map(|_| Ring::new()).collect(),
        };
        (0..filled).for_each(|id| table.push(id).expect("room"));
        Arc::new(table)
    }

    fn push(&self, id: usize) -> Result<(), ()> {
        self.ring.push(self.nodes.ready(id)).map_err(|node| {
            self.nodes.take(node);
        })
    }

    fn pop(&self) -> bool {
        self.ring.pop().map(|node| self.nodes.take(node)).is_some()
    }

    /// Starts thief `i`, which steals once and runs what it got.
    fn steal(self: &Arc<Self>, i: usize) -> JoinHandle<()> {
        let table = Arc::clone(self);
        let rob = move || {
            let mine = &table.thieves[i];
            let Some((oldest, n)) = table.ring.steal_into(mine) else {
                return;
            };
            assert!(n <= CAPACITY / 2, "{n} stolen");
            table.nodes.take(oldest);
            let rest =
                std::iter::from_fn(|| mine.pop()).map(|node| table.nodes.take(node));
            assert_eq!(rest.count() as u32, n - 1);
        };
        thread::spawn(String::new(), rob).expect("a modelled thread")
    }

    /// After the thieves: the owner empties the ring, and every node was taken once.
    fn close(&self, thieves: impl IntoIterator<Item = JoinHandle<()>>) {
        thieves
            .into_iter()
            .for_each(|thief| thief.join().expect("the thief passes"));
        while self.pop() {}
        self.nodes.assert_each_once();
    }
}

// Proves: B3, Q4.
#[test]
fn model_ring_push_pop_against_a_thief() {
    explore("ring_push_pop_against_a_thief", 3, || {
        let table = Table::new(4, 1, 1);
        let thief = table.steal(0);
        table.push(1).expect("room");
        table.pop();
        table.push(2).expect("room");
        table.push(3).expect("room");
        table.pop();
        table.close([thief]);
    });
}

#[test]
fn model_ring_refill_behind_a_thief() {
    explore("ring_refill_behind_a_thief", 3, || {
        let table = Table::new(6, 4, 1);
        let thief = table.steal(0);
        // Room only if the thief has released, or the owner has popped before its claim.
        let _ = table.push(4);
        table.pop();
        let _ = table.push(5);
        thief.join().expect("the thief passes");
        while table.pop() {}
        table.nodes.assert_each_once();
    });
}

// Proves: B3.
#[test]
fn model_ring_two_thieves() {
    explore("ring_two_thieves", 2, || {
        let table = Table::new(5, 4, 2);
        let thieves = [table.steal(0), table.steal(1)];
        table.pop();
        let _ = table.push(4);
        table.close(thieves);
    });
}

// Proves: B2.
#[test]
fn model_ring_overflow_against_a_thief() {
    explore("ring_overflow_against_a_thief", 3, || {
        let table = Table::new(6, 4, 1);
        let thief = table.steal(0);
        let mut batch = Vec::new();
        table
            .ring
            .push_overflow(table.nodes.ready(4), |node| batch.push(node));
        let batch: Vec<_> = batch
            .into_iter()
            .map(|node| table.nodes.take(node))
            .collect();
        // All possible cases: there was room by then; a thief was active; the newer half.
        assert!(
            [&[] as &[usize], &[4], &[2, 3, 4]].contains(&&batch[..]),
            "{batch:?}"
        );
        let _ = table.push(5);
        table.close([thief]);
    });
}
