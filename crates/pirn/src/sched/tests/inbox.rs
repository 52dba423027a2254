//! The inbox: which push wakes, the order of fibers, the pool that inboxes come from.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::base::list::Fifo;
use crate::base::tests::node::{Node, Nodes, Stranger};
use crate::sched::queue::inbox::Inbox;
use crate::shim::{self, thread};
use crate::sys::poller::Events;

fn drain(nodes: &Nodes, mut batch: Fifo<Node>) -> Vec<usize> {
    std::iter::from_fn(|| batch.pop_front())
        .map(|node| nodes.take(node))
        .collect()
}

#[test]
fn the_first_push_to_a_sleeper_wakes() {
    let nodes = Nodes::new(5);
    let inbox = Inbox::<Node>::new();
    assert!(inbox.is_empty());
    assert!(!inbox.push(nodes.ready(0)), "awake");
    assert!(!inbox.prepare_sleep(), "something is there");
    assert!(!inbox.push(nodes.ready(1)));
    assert_eq!(drain(&nodes, inbox.drain()), [0, 1]);
    assert!(inbox.prepare_sleep());
    assert!(inbox.is_empty());
    assert!(inbox.push(nodes.ready(2)), "asleep");
    assert!(!inbox.push(nodes.ready(3)), "another push wakes");
    inbox.cancel_sleep();
    assert_eq!(drain(&nodes, inbox.drain()), [2, 3]);
    assert!(inbox.prepare_sleep());
    inbox.cancel_sleep();
    assert!(!inbox.push(nodes.ready(4)), "awake again");
    assert_eq!(drain(&nodes, inbox.drain()), [4]);
    assert!(inbox.prepare_sleep());
    assert!(inbox.drain().is_empty());
    assert!(inbox.prepare_sleep(), "drain has cleared the mark");
}

#[test]
fn a_released_inbox_is_used_again() {
    // A type of its own, so that no other test draws from the same part of the pool.
    let first = Inbox::<Stranger>::acquire();
    let second = Inbox::<Stranger>::acquire();
    assert!(!ptr::eq(first, second), "both are in use");
    assert!(first.prepare_sleep());
    first.release();
    let third = Inbox::<Stranger>::acquire();
    assert!(ptr::eq(first, third));
    assert!(third.prepare_sleep(), "awake when acquired");
    third.release();
    second.release();
}

// Proves: C16.
#[test]
fn wakers_and_epoch_share_no_line() {
    let inbox = Inbox::<Node>::new();
    let epoch = ptr::from_ref(&*inbox.epoch).addr();
    let door = ptr::from_ref(inbox.driver()).addr();
    assert!(epoch.abs_diff(door) >= 64, "{epoch:x} {door:x}");
    assert_eq!(size_of::<Inbox<Node>>(), 256);
}

#[test]
fn storm_loses_no_wake() {
    let nodes = Nodes::new(600_000);
    let inbox = Arc::new(Inbox::<Node>::new());
    let share = nodes.len() / 2;
    let pushers: Vec<_> = (0..2)
        .map(|me| {
            let (nodes, inbox) = (Arc::clone(&nodes), Arc::clone(&inbox));
            let push = move || {
                for id in me * share..(me + 1) * share {
                    if inbox.push(nodes.ready(id)) {
                        inbox.unpark();
                    }
                }
            };
            thread::spawn(format!("pusher {me}"), push).expect("a thread")
        })
        .collect();
    let mut last = [None; 2];
    let mut left = nodes.len();
    while left > 0 {
        for id in drain(&nodes, inbox.drain()) {
            let newer = last[id / share].replace(id);
            assert!(newer < Some(id), "{id} came after {newer:?}");
            left -= 1;
        }
        if left > 0 && inbox.prepare_sleep() {
            let until = shim::now() + Duration::from_secs(10);
            inbox.sleep(Some(until), &mut Events::new());
            assert!(shim::now() < until, "a wake was lost");
        }
    }
    pushers
        .into_iter()
        .for_each(|pusher| pusher.join().expect("no pusher panics"));
    nodes.assert_each_once();
}
