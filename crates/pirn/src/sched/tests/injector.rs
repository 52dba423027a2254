//! The injector, alone and with several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::list::Fifo;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::injector::{End, Injector};
use crate::shim::thread;

fn drain(nodes: &Nodes, mut batch: Fifo<Node>) -> Vec<usize> {
    std::iter::from_fn(|| batch.pop_front())
        .map(|node| nodes.take(node))
        .collect()
}

fn batch(nodes: &Nodes, ids: std::ops::Range<usize>) -> Fifo<Node> {
    let mut batch = Fifo::new();
    ids.for_each(|id| batch.push_back(nodes.ready(id)));
    batch
}

#[test]
fn shards_are_queues_and_any_finds_them() {
    let nodes = Nodes::new(8);
    let injector = Injector::new(3);
    assert!(injector.is_empty());
    (0..5).for_each(|id| injector.push(1, nodes.ready(id)));
    injector.spill(2, batch(&nodes, 5..8));
    assert_eq!((injector.len(), injector.shard_len(1)), (8, 5));
    assert_eq!(drain(&nodes, injector.pop_batch(0, 9, End::Newest)), []);
    assert_eq!(drain(&nodes, injector.pop_batch(1, 2, End::Newest)), [0, 1]);
    assert_eq!(drain(&nodes, injector.pop_any(2, 9)), [5, 6, 7]);
    assert_eq!(drain(&nodes, injector.pop_any(2, 9)), [2, 3, 4]);
    assert!(injector.is_empty() && injector.pop_any(0, 9).is_empty());
}

// Proves: B19.
#[test]
fn spilled_fibers_are_a_stack_to_their_worker_and_a_queue_to_others() {
    let nodes = Nodes::new(9);
    let injector = Injector::new(1);
    (0..3).for_each(|i| injector.spill(0, batch(&nodes, 3 * i..3 * i + 3)));
    assert_eq!(
        drain(&nodes, injector.pop_batch(0, 4, End::Newest)),
        [5, 6, 7, 8]
    );
    assert_eq!(drain(&nodes, injector.pop_any(0, 1)), [0]);
    assert_eq!(drain(&nodes, injector.pop_batch(0, 2, End::Newest)), [3, 4]);
    assert_eq!(drain(&nodes, injector.pop_any(0, 9)), [1, 2]);
}

// Proves: B19.
#[test]
fn what_arrived_and_what_spilled_come_in_turn() {
    let nodes = Nodes::new(6);
    let injector = Injector::new(1);
    injector.spill(0, batch(&nodes, 0..3));
    (3..6).for_each(|id| injector.push(0, nodes.ready(id)));
    let took: Vec<_> = (0..6)
        .flat_map(|_| drain(&nodes, injector.pop_batch(0, 1, End::Newest)))
        .collect();
    assert_eq!(took, [2, 3, 1, 4, 0, 5]);
}

/// Whichever row is next, a request for the oldest that spilled gets it.
#[test]
fn the_oldest_that_spilled_can_be_asked_for() {
    let nodes = Nodes::new(6);
    let injector = Injector::new(1);
    injector.spill(0, batch(&nodes, 0..3));
    (3..6).for_each(|id| injector.push(0, nodes.ready(id)));
    let took: Vec<_> = (0..4)
        .flat_map(|_| drain(&nodes, injector.pop_batch(0, 1, End::OldestSpilled)))
        .collect();
    assert_eq!(took, [0, 1, 2, 3]);
    assert_eq!(drain(&nodes, injector.pop_any(0, 9)), [4, 5]);
}

#[test]
#[should_panic(expected = "at least one shard")]
fn no_shards_panics() {
    Injector::<Node>::new(0);
}

// Proves: B8, B15.
#[test]
fn storm_takes_every_node_once() {
    const SHARDS: usize = 2;
    let nodes = Nodes::new(400_000);
    let injector = Arc::new(Injector::new(SHARDS));
    let taken = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..2)
        .map(|me| {
            let (nodes, injector) = (Arc::clone(&nodes), Arc::clone(&injector));
            let taken = Arc::clone(&taken);
            let work = move || {
                let share = nodes.len() / 2;
                for id in me * share..(me + 1) * share {
                    injector.push(id % SHARDS, nodes.ready(id));
                    if id % 16 == 0 {
                        let got = drain(&nodes, injector.pop_any(me, 32)).len();
                        taken.fetch_add(got, Ordering::Relaxed);
                    }
                }
                while taken.load(Ordering::Relaxed) < nodes.len() {
                    let got = drain(&nodes, injector.pop_any(me, 32)).len();
                    taken.fetch_add(got, Ordering::Relaxed);
                }
            };
            thread::spawn(format!("worker {me}"), work).expect("a thread")
        })
        .collect();
    workers
        .into_iter()
        .for_each(|worker| worker.join().expect("no worker panics"));
    nodes.assert_each_once();
    assert!(injector.is_empty());
}
