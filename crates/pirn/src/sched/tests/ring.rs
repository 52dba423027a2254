//! The ring, alone against a deque, and in a storm with thieves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::list::Fifo;
use crate::base::rng::Rng;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::queue::injector::Injector;
use crate::sched::queue::ring::{CAPACITY, Ring};
use crate::shim::thread;

/// Positions wrap in the middle of each test.
const START: u32 = u32::MAX - 300;

/// A ring has 256 slots.
// Proves: B1.
#[test]
fn a_ring_has_256_slots() {
    let nodes = Nodes::new(300);
    let ring = Ring::<Node>::starting_at(START);
    let fits = |id: &usize| ring.push(nodes.ready(*id)).is_ok();
    assert_eq!((0..300).take_while(fits).count(), 256);
}

// Proves: B2, B3, C2, C3.
#[test]
fn agrees_with_a_deque() {
    let nodes = Nodes::new(1_000);
    let mut rng = Rng::new(21);
    let mut free: Vec<usize> = (0..nodes.len()).collect();
    let (ring, thief) = (Ring::<Node>::starting_at(START), Ring::starting_at(START));
    let mut model = VecDeque::new();
    let mut stolen = VecDeque::new();
    for _ in 0..200_000 {
        match rng.below(100) {
            0..55 => {
                let Some(id) = free.pop() else { continue };
                let pushed = ring.push(nodes.ready(id));
                assert_eq!(pushed.is_ok(), model.len() < CAPACITY as usize);
                match pushed {
                    Ok(()) => model.push_back(id),
                    Err(node) => free.push(nodes.take(node)),
                }
            }
            55..60 => {
                let Some(id) = free.pop() else { continue };
                let mut batch = Vec::new();
                ring.push_overflow(nodes.ready(id), |node| batch.push(nodes.take(node)));
                if model.len() < CAPACITY as usize {
                    assert!(batch.is_empty());
                    model.push_back(id);
                } else {
                    let mut newer = model.split_off(CAPACITY as usize / 2);
                    newer.push_back(id);
                    assert_eq!(newer, batch);
                }
                free.extend(batch);
            }
            60..97 => {
                let id = ring.pop().map(|node| nodes.take(node));
                assert_eq!(id, model.pop_front());
                free.extend(id);
            }
            _ => {
                while let Some(node) = thief.pop() {
                    let id = nodes.take(node);
                    assert_eq!(Some(id), stolen.pop_front());
                    free.push(id);
                }
                let half = model.len().div_ceil(2).min(CAPACITY as usize / 2);
                let took = ring.steal_into(&thief);
                assert_eq!(took.map_or(0, |(_, n)| n as usize), half);
                stolen.extend(model.drain(..half));
                if let Some((oldest, _)) = took {
                    let id = nodes.take(oldest);
                    assert_eq!(Some(id), stolen.pop_front());
                    free.push(id);
                }
            }
        }
        assert_eq!(ring.len() as usize, model.len());
        assert_eq!(ring.free_slots() + ring.len(), CAPACITY);
        assert_eq!(ring.is_empty(), model.is_empty());
    }
}

#[test]
fn a_thief_with_a_full_house_takes_nothing() {
    let nodes = Nodes::new(400);
    let (ring, thief) = (Ring::<Node>::new(), Ring::new());
    ring.push(nodes.ready(0)).expect("room");
    for id in 1..=CAPACITY as usize / 2 + 1 {
        thief.push(nodes.ready(id)).expect("room");
    }
    assert!(ring.steal_into(&thief).is_none(), "more than half full");
    thief.pop().expect("just pushed");
    assert!(ring.steal_into(&thief).is_some(), "half full");
}

#[test]
fn an_unchanged_head_means_the_same_oldest() {
    let nodes = Nodes::new(3);
    let ring = Ring::<Node>::new();
    ring.push(nodes.ready(0)).expect("room");
    let (head, len) = ring.look();
    ring.push(nodes.ready(1)).expect("room");
    assert_eq!(ring.look(), (head, len + 1));
    ring.pop().expect("just pushed");
    ring.push(nodes.ready(2)).expect("room");
    assert_ne!(ring.look().0, head);
}

/// What the threads of the storm share.
struct Storm {
    nodes: Arc<Nodes>,
    rings: Vec<Ring<Node>>,
    overflow: Injector<Node>,
    taken: AtomicUsize,
}

impl Storm {
    /// Worker `me` takes what it can get until everything was taken.
    fn work(&self, me: usize) {
        let mut rng = Rng::new(me as u64);
        while self.taken.load(Ordering::Relaxed) < self.nodes.len() {
            if !self.step(me, &mut rng) {
                thread::yield_now();
            }
        }
    }

    fn step(&self, me: usize, rng: &mut Rng) -> bool {
        let mine = &self.rings[me];
        let node = mine.pop().or_else(|| {
            let mut batch = self.overflow.pop_any(me, mine.free_slots().min(64));
            let first = batch.pop_front();
            while let Some(node) = batch.pop_front() {
                mine.push(node).expect("no more than fits");
            }
            first
        });
        let node = node.or_else(|| {
            let victim = (me + 1 + rng.below(self.rings.len() - 1)) % self.rings.len();
            self.rings[victim]
                .steal_into(mine)
                .map(|(oldest, _)| oldest)
        });
        if let Some(node) = node {
            self.nodes.take(node);
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
        node.is_some()
    }

    fn spawn(&self, me: usize, id: usize) {
        if let Err(node) = self.rings[me].push(self.nodes.ready(id)) {
            let mut batch = Fifo::new();
            self.rings[me].push_overflow(node, |node| batch.push_back(node));
            self.overflow.spill(me, batch);
        }
    }
}

// Proves: B1.
#[test]
fn storm_takes_every_node_once() {
    const WORKERS: usize = 3;
    let storm = Arc::new(Storm {
        nodes: Nodes::new(1_000_000),
        rings: (0..WORKERS).map(|_| Ring::starting_at(START)).collect(),
        overflow: Injector::new(WORKERS),
        taken: AtomicUsize::new(0),
    });
    let thieves: Vec<_> = (1..WORKERS)
        .map(|me| {
            let storm = Arc::clone(&storm);
            thread::spawn(format!("thief {me}"), move || storm.work(me))
                .expect("a thread")
        })
        .collect();
    let mut rng = Rng::new(0);
    for id in 0..storm.nodes.len() {
        storm.spawn(0, id);
        if rng.below(3) == 0 {
            storm.step(0, &mut rng);
        }
    }
    storm.work(0);
    thieves
        .into_iter()
        .for_each(|thief| thief.join().expect("no thief panics"));
    storm.nodes.assert_each_once();
}
