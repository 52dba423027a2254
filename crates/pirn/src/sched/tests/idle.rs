//! The sleep protocol: its counts, and a storm in which every wake is needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::base::rng::Rng;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::pool::idle::Idle;
use crate::sched::queue::injector::Injector;
use crate::shim::{self, thread};
use crate::sys::parker::Parker;

// Proves: C4.
#[test]
fn half_of_the_workers_search() {
    for (workers, most) in [(1, 1), (2, 1), (3, 1), (4, 2), (9, 4)] {
        let idle = Idle::new(workers);
        let searching = (0..workers).filter(|_| idle.try_search()).count();
        assert_eq!((searching, idle.searching()), (most, most), "of {workers}");
        let last = (0..most).filter(|_| idle.found_work()).count();
        assert_eq!((last, idle.searching()), (1, 0), "only one is the last");
    }
}

// Proves: C5.
#[test]
fn the_last_searcher_looks_again() {
    let idle = Idle::new(4);
    assert!(idle.announce(0, false), "no member searches");
    assert!(idle.try_search() && idle.try_search());
    assert!(!idle.announce(1, true), "one more searches");
    assert!(!idle.announce(2, false), "one more searches");
    assert!(idle.announce(3, true), "the last");
    assert!(idle.all_asleep() && idle.sleepers_hint());
    assert_eq!((idle.sleeping(), idle.searching()), (4, 0));
}

#[test]
fn a_claimed_worker_owes_a_search() {
    let idle = Idle::new(3);
    assert_eq!(idle.claim_sleeper(0), None, "no member sleeps");
    assert!(!idle.sleepers_hint());
    assert!(idle.announce(0, false) && idle.announce(2, false));
    assert_eq!(idle.claim_sleeper(1), Some(2));
    assert_eq!((idle.sleeping(), idle.searching()), (1, 1));
    assert_eq!(idle.claim_sleeper(1), None, "someone searches");
    assert_eq!(idle.claim_any(1), Some(0));
    assert_eq!(idle.claim_any(1), None, "no member sleeps");
    assert_eq!((idle.sleeping(), idle.searching()), (0, 2));
    assert!(idle.retract(0) && idle.retract(2), "both were claimed");
    assert!(!idle.found_work() && idle.found_work());
    assert!(idle.announce(1, false));
    assert!(!idle.retract(1), "not claimed");
    assert_eq!((idle.sleeping(), idle.searching()), (0, 0));
    assert!(idle.announce(1, false));
    idle.resume_search(1);
    assert_eq!(
        (idle.sleeping(), idle.searching()),
        (0, 1),
        "counted, not claimed"
    );
    assert!(!idle.announce(2, false), "one searches");
    assert_eq!(idle.claim_any(0), Some(2));
    idle.resume_search(2);
    assert_eq!(
        (idle.sleeping(), idle.searching()),
        (0, 2),
        "claimed, counted once"
    );
}

// Proves: C6.
#[test]
fn more_than_one_word_of_workers() {
    let idle = Idle::new(130);
    (0..130).for_each(|w| assert!(idle.announce(w, false)));
    assert!(idle.all_asleep());
    assert_eq!(idle.claim_any(129), Some(129));
    assert_eq!(idle.claim_any(129), Some(0));
    assert_eq!(idle.claim_any(64), Some(64));
    assert_eq!(idle.sleeping(), 127);
}

/// Workers that only know the injector.
struct Hub {
    nodes: Arc<Nodes>,
    injector: Injector<Node>,
    idle: Idle,
    parkers: Vec<Parker>,
    taken: AtomicUsize,
    slept: AtomicUsize,
}

impl Hub {
    fn over(&self) -> bool {
        self.taken.load(Ordering::SeqCst) == self.nodes.len()
    }

    fn wake_one(&self) {
        if let Some(w) = self.idle.claim_sleeper(0) {
            self.parkers[w].unpark();
        }
    }

    fn work(&self, me: usize) {
        let mut searching = false;
        while !self.over() {
            searching = searching || self.idle.try_search();
            if let Some(node) = self.injector.pop_any(me, 1).pop_front() {
                if searching && self.idle.found_work() && !self.injector.is_empty() {
                    self.wake_one();
                }
                searching = false;
                self.run(node);
                continue;
            }
            if self.idle.announce(me, searching) && !self.injector.is_empty() {
                self.idle.resume_search(me);
                searching = true;
                continue;
            }
            self.slept.fetch_add(1, Ordering::Relaxed);
            let ten_seconds = shim::now() + Duration::from_secs(10);
            let woken = self.parkers[me].park_until(ten_seconds);
            assert!(woken, "worker {me}: a wake was lost");
            searching = self.idle.retract(me);
        }
    }

    fn run(&self, node: crate::base::list::NodePtr<Node>) {
        self.nodes.take(node);
        if self.taken.fetch_add(1, Ordering::SeqCst) + 1 == self.nodes.len() {
            self.parkers.iter().for_each(Parker::unpark);
        }
    }
}

#[test]
fn storm_loses_no_wake() {
    const WORKERS: usize = 2;
    let hub = Arc::new(Hub {
        nodes: Nodes::new(100_000),
        injector: Injector::new(2),
        idle: Idle::new(WORKERS),
        parkers: (0..WORKERS).map(|_| Parker::new()).collect(),
        taken: AtomicUsize::new(0),
        slept: AtomicUsize::new(0),
    });
    let workers: Vec<_> = (0..WORKERS)
        .map(|me| {
            let hub = Arc::clone(&hub);
            thread::spawn(format!("worker {me}"), move || hub.work(me)).expect("a thread")
        })
        .collect();
    let mut rng = Rng::new(9);
    for id in 0..hub.nodes.len() {
        hub.injector.push(id % 2, hub.nodes.ready(id));
        hub.wake_one();
        // Sometimes one at a time, so that the workers sleep in between.
        while rng.below(8) > 0 && hub.taken.load(Ordering::Relaxed) <= id {
            thread::yield_now();
        }
    }
    workers
        .into_iter()
        .for_each(|worker| worker.join().expect("no worker panics"));
    hub.nodes.assert_each_once();
    assert_eq!(hub.idle.sleeping(), 0);
    let slept = hub.slept.load(Ordering::Relaxed);
    assert!(slept > 100, "a storm with {slept} sleeps shows nothing");
}
