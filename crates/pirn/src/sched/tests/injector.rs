//! The injector, alone and with several threads at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::list::Fifo;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::injector::Injector;
use crate::shim::thread;

fn drain(nodes: &Nodes, mut batch: Fifo<Node>) -> Vec<usize> {
    std::iter::from_fn(|| batch.pop_front())
        .map(|node| nodes.take(node))
        .collect()
}

#[test]
fn shards_are_queues_and_any_finds_them() {
    let nodes = Nodes::new(8);
    let injector = Injector::new(3);
    assert!(injector.is_empty());
    (0..5).for_each(|id| injector.push(1, nodes.ready(id)));
    let mut batch = Fifo::new();
    (5..8).for_each(|id| batch.push_back(nodes.ready(id)));
    injector.push_batch(2, batch);
    assert_eq!((injector.len(), injector.shard_len(1)), (8, 5));
    assert_eq!(drain(&nodes, injector.pop_batch(0, 9)), []);
    assert_eq!(drain(&nodes, injector.pop_batch(1, 2)), [0, 1]);
    assert_eq!(drain(&nodes, injector.pop_any(2, 9)), [5, 6, 7]);
    assert_eq!(drain(&nodes, injector.pop_any(2, 9)), [2, 3, 4]);
    assert!(injector.is_empty() && injector.pop_any(0, 9).is_empty());
}

#[test]
#[should_panic(expected = "at least one shard")]
fn no_shards_panics() {
    Injector::<Node>::new(0);
}

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
