//! Models: a node is started once, when all its predecessors have ended, by a thread that
//! sees their effects.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::par::graph::countdown::Countdown;
use crate::par::graph::plan::Plan;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::thread::{self, JoinHandle};

/// A graph run by threads in place of fibers.
struct Fixture {
    plan: Plan,
    countdown: Countdown,
    edges: &'static [(u32, u32)],
    /// The number of runs of each node. Relaxed: only the countdown orders it.
    ran: Vec<AtomicU32>,
    threads: Lock<Vec<JoinHandle<()>>>,
}

impl Fixture {
    fn new(nodes: u32, edges: &'static [(u32, u32)]) -> Arc<Fixture> {
        let plan = Plan::of_edges((0..nodes).collect(), edges);
        Arc::new(Fixture {
            countdown: Countdown::new(&plan),
            plan,
            edges,
            ran: (0..nodes).map(|_| AtomicU32::new(0)).collect(),
            threads: Lock::new(Vec::new()),
        })
    }

    /// Checks that all predecessors of `position`, direct and indirect, have run.
    fn run(&self, position: u32) {
        let mut front = vec![position];
        while let Some(at) = front.pop() {
            for (before, _) in self.edges.iter().filter(|(_, behind)| *behind == at) {
                let ran = self.ran[*before as usize].load(Ordering::Relaxed);
                assert_eq!(ran, 1, "node {position} does not see node {before}");
                front.push(*before);
            }
        }
        let ran = &self.ran[position as usize];
        ran.store(ran.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn spawn(self: &Arc<Self>, position: u32) {
        let fixture = Arc::clone(self);
        let body = move || fixture.go_on_from(position);
        let thread = thread::spawn(String::new(), body).expect("a modelled thread");
        self.threads.lock().push(thread);
    }

    /// Like the fibers of a run.
    fn go_on_from(self: &Arc<Self>, position: u32) {
        let mut next = Some(position);
        while let Some(position) = next.take() {
            self.run(position);
            self.countdown
                .ended(&self.plan, position, |ready| match next {
                    None => next = Some(ready),
                    Some(_) => self.spawn(ready),
                });
        }
    }

    fn go(self: &Arc<Self>) {
        self.plan.first().for_each(|position| self.spawn(position));
        loop {
            let Some(thread) = self.threads.lock().pop() else {
                break;
            };
            thread.join().expect("the thread passes");
        }
        for ran in &self.ran {
            assert_eq!(ran.load(Ordering::Relaxed), 1, "a node was left out");
        }
    }
}

/// Two predecessors of one node.
// Proves: O14.
#[test]
fn model_countdown_two_before_one() {
    explore("countdown_two_before_one", 3, || {
        Fixture::new(3, &[(0, 2), (1, 2)]).go();
    });
}

/// One node fans out to two with a common successor; the last sees the first through
/// either.
// Proves: O14.
#[test]
fn model_countdown_diamond() {
    explore("countdown_diamond", 3, || {
        Fixture::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]).go();
    });
}

/// Two predecessors of two nodes each: both words reach 0 once.
// Proves: O14.
#[test]
fn model_countdown_two_before_two() {
    explore("countdown_two_before_two", 3, || {
        Fixture::new(4, &[(0, 2), (0, 3), (1, 2), (1, 3)]).go();
    });
}
