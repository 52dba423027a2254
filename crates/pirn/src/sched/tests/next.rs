//! The slot, alone and with a thief.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::rng::Rng;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::next_slot::{Next, NextItem};
use crate::shim::thread;

use NextItem::{Fresh, Settled};

// Proves: B4.
#[test]
fn put_evicts_and_take_empties() {
    let nodes = Nodes::new(3);
    let [a, b, c] = [0, 1, 2].map(|id| nodes.ready(id));
    let next = Next::<Node>::new();
    assert!(next.is_empty() && next.look() == 0 && next.take().is_none());
    assert_eq!(next.put(Fresh(a)), None);
    assert_eq!(next.put(Settled(b)), Some(Fresh(a)));
    assert_eq!(next.put(Fresh(c)), Some(Settled(b)));
    assert_eq!(next.put(Fresh(a)), Some(Fresh(c)));
    assert_eq!(next.take(), Some(Fresh(a)));
    assert_eq!(next.put(Settled(b)), None);
    assert_eq!(next.take(), Some(Settled(b)));
    assert!(next.is_empty());
}

#[test]
fn only_the_fresh_fiber_that_was_seen_is_stolen() {
    let nodes = Nodes::new(2);
    let [a, b] = [0, 1].map(|id| nodes.ready(id));
    let next = Next::<Node>::new();
    assert_eq!(next.steal(next.look()), None, "empty");
    next.put(Settled(a));
    assert_eq!(next.steal(next.look()), None, "settled");
    next.put(Fresh(a));
    let seen = next.look();
    next.put(Settled(a));
    assert_eq!(
        next.steal(seen),
        None,
        "the same header, but settled by now"
    );
    next.put(Fresh(b));
    assert_eq!(next.steal(seen), None, "another");
    assert_eq!(next.steal(next.look()), Some(b));
    assert!(next.is_empty());
}

#[test]
fn storm_takes_every_node_once() {
    let nodes = Nodes::new(1_000_000);
    let next = Arc::new(Next::<Node>::new());
    let over = Arc::new(AtomicBool::new(false));
    let thief = {
        let (nodes, next, over) =
            (Arc::clone(&nodes), Arc::clone(&next), Arc::clone(&over));
        let rob = move || {
            let mut stolen = 0;
            while !over.load(Ordering::Relaxed) {
                if let Some(node) = next.steal(next.look()) {
                    let id = nodes.take(node);
                    assert!(id % 4 != 3, "{id} was settled");
                    stolen += 1;
                }
            }
            assert!(stolen > 0, "a storm without a theft shows nothing");
        };
        thread::spawn("thief".into(), rob).expect("a thread")
    };
    let mut rng = Rng::new(5);
    let run = |item| match item {
        Fresh(node) | Settled(node) => nodes.take(node),
    };
    for id in 0..nodes.len() {
        let node = nodes.ready(id);
        let item = if id % 4 == 3 {
            Settled(node)
        } else {
            Fresh(node)
        };
        next.put(item).map(run);
        // Leaves the slot alone now and then: the thief needs as long as a cache line takes to
        // move.
        while id % 256 == 0 && rng.below(256) > 0 && !next.is_empty() {
            thread::yield_now();
        }
        if rng.below(2) == 0 {
            next.take().map(run);
        }
    }
    next.take().map(run);
    over.store(true, Ordering::Relaxed);
    thief.join().expect("the thief does not panic");
    nodes.assert_each_once();
}
