//! Models: a fiber pushed to a worker that is about to sleep wakes it, exactly one pusher
//! does, and the owner sees fibers whole and each pusher's in order.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::inbox::Inbox;
use crate::shim::thread;
use crate::sys::poller::Events;

/// `pushers` threads push `each` fibers; the owner sleeps whenever there are none, until it has
/// all. A lost wake leaves it parked indefinitely, which loom reports.
fn push_against_sleep(pushers: usize, each: usize) {
    let nodes = Nodes::new(pushers * each);
    let inbox = Arc::new(Inbox::<Node>::new());
    let threads: Vec<_> = (0..pushers)
        .map(|me| {
            let (nodes, inbox) = (Arc::clone(&nodes), Arc::clone(&inbox));
            let push = move || {
                for id in me * each..(me + 1) * each {
                    if inbox.push(nodes.ready(id)) {
                        inbox.unpark();
                    }
                }
            };
            thread::spawn(String::new(), push).expect("a modelled thread")
        })
        .collect();
    let mut last = vec![None; pushers];
    let mut left = nodes.len();
    while left > 0 {
        let mut batch = inbox.drain();
        while let Some(node) = batch.pop_front() {
            let id = nodes.take(node);
            assert!(last[id / each].replace(id) < Some(id), "out of order");
            left -= 1;
        }
        if left > 0 && inbox.prepare_sleep() {
            inbox.sleep(None, &mut Events::new());
        }
    }
    threads
        .into_iter()
        .for_each(|pusher| pusher.join().expect("push returns"));
    nodes.assert_each_once();
}

// Proves: C12.
#[test]
fn model_inbox_one_pusher() {
    explore("inbox_one_pusher", 3, || push_against_sleep(1, 2));
}

// Proves: C13.
#[test]
fn model_inbox_two_pushers() {
    explore("inbox_two_pushers", 3, || push_against_sleep(2, 1));
}

/// The owner decides not to sleep after all: the mark is cleared, the fiber stays.
#[test]
fn model_inbox_sleep_is_cancelled() {
    explore("inbox_sleep_is_cancelled", 3, || {
        let nodes = Nodes::new(1);
        let inbox = Arc::new(Inbox::<Node>::new());
        let pusher = {
            let (nodes, inbox) = (Arc::clone(&nodes), Arc::clone(&inbox));
            thread::spawn(String::new(), move || {
                if inbox.push(nodes.ready(0)) {
                    inbox.unpark();
                }
            })
            .expect("a modelled thread")
        };
        if inbox.prepare_sleep() {
            inbox.cancel_sleep();
        }
        let mut taken = 0;
        while taken == 0 {
            let mut batch = inbox.drain();
            while let Some(node) = batch.pop_front() {
                nodes.take(node);
                taken += 1;
            }
            if taken == 0 && inbox.prepare_sleep() {
                inbox.sleep(None, &mut Events::new());
            }
        }
        pusher.join().expect("push returns");
        nodes.assert_each_once();
    });
}
