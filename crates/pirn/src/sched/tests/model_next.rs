//! Models: what is in the slot is taken once, by its owner or by a thief, whole; a thief never gets
//! a settled fiber, not even one with a header that was fresh when it looked.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::next_slot::{Next, NextItem};
use crate::shim::thread::{self, JoinHandle};

use NextItem::{Fresh, Settled};

struct Table {
    nodes: Arc<Nodes>,
    next: Next<Node>,
}

impl Table {
    fn new(nodes: usize) -> Arc<Self> {
        Arc::new(Table {
            nodes: Nodes::new(nodes),
            next: Next::new(),
        })
    }

    fn put(&self, item: NextItem<Node>) {
        if let Some(Fresh(node) | Settled(node)) = self.next.put(item) {
            self.nodes.take(node);
        }
    }

    /// Takes the fiber in the slot; true if there was one.
    fn take(&self) -> bool {
        match self.next.take() {
            Some(Fresh(node) | Settled(node)) => {
                self.nodes.take(node);
                true
            }
            None => false,
        }
    }

    /// Starts a thief that looks and steals once, and must not get `forbidden`.
    fn steal(self: &Arc<Self>, forbidden: Option<usize>) -> JoinHandle<()> {
        let table = Arc::clone(self);
        let rob = move || {
            let seen = table.next.look();
            if let Some(node) = table.next.steal(seen) {
                let id = table.nodes.take(node);
                assert_ne!(Some(id), forbidden, "stole a settled fiber");
            }
        };
        thread::spawn(String::new(), rob).expect("a modelled thread")
    }

    fn close(&self, thieves: impl IntoIterator<Item = JoinHandle<()>>) {
        thieves
            .into_iter()
            .for_each(|thief| thief.join().expect("the thief passes"));
        self.take();
        self.nodes.assert_each_once();
    }
}

// Proves: B6.
#[test]
fn model_next_put_take_against_a_thief() {
    explore("next_put_take_against_a_thief", 3, || {
        let table = Table::new(4);
        let thief = table.steal(Some(1));
        table.put(Fresh(table.nodes.ready(0)));
        table.put(Settled(table.nodes.ready(1)));
        table.put(Fresh(table.nodes.ready(2)));
        table.take();
        table.put(Fresh(table.nodes.ready(3)));
        table.close([thief]);
    });
}

#[test]
fn model_next_two_thieves() {
    explore("next_two_thieves", 3, || {
        let table = Table::new(3);
        table.put(Fresh(table.nodes.ready(0)));
        let thieves = [table.steal(Some(1)), table.steal(Some(1))];
        table.take();
        table.put(Settled(table.nodes.ready(1)));
        table.put(Fresh(table.nodes.ready(2)));
        table.close(thieves);
    });
}

/// The header that the thief saw is taken and put back before its compare-exchange: once
/// fresh again (the theft is right), once settled (it must fail).
// Proves: B17.
#[test]
fn model_next_header_comes_back() {
    explore("next_header_comes_back", 3, || {
        let table = Table::new(1);
        table.put(Fresh(table.nodes.ready(0)));
        let thief = {
            let table = Arc::clone(&table);
            let rob = move || {
                let seen = table.next.look();
                table.next.steal(seen).map(|node| table.nodes.take(node));
            };
            thread::spawn(String::new(), rob).expect("a modelled thread")
        };
        let mut puts = 1;
        if table.take() {
            table.put(Fresh(table.nodes.ready(0)));
            puts += 1;
            if table.take() {
                table.next.put(Settled(table.nodes.ready(0)));
                let mine = table.take();
                assert!(mine, "a settled fiber was stolen");
                puts += 1;
            }
        }
        thief.join().expect("the thief passes");
        assert!(!table.take());
        assert_eq!(table.nodes.taken().next(), Some(puts));
    });
}
