//! Models: no fiber waits in the injector while a worker sleeps for good.
//!
//! The workers here know one queue. A worker runs a fiber until all fibers of the model have been
//! started. So with as many fibers as workers, every worker is needed, and one that sleeps through
//! its fiber is a deadlock, which loom reports.

use std::sync::Arc;

use crate::base::list::NodePtr;
use crate::base::tests::explore::explore;
use crate::base::tests::node::{Node, Nodes};
use crate::sched::pool::idle::Idle;
use crate::sched::queue::injector::Injector;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{Condvar, Mutex};
use crate::sys::parker::Parker;

struct Hub {
    nodes: Arc<Nodes>,
    injector: Injector<Node>,
    idle: Idle,
    parkers: Vec<Parker>,
    started: Mutex<usize>,
    all_started: Condvar,
}

impl Hub {
    fn new(workers: usize, nodes: usize) -> Arc<Self> {
        Arc::new(Hub {
            nodes: Nodes::new(nodes),
            injector: Injector::new(1),
            idle: Idle::new(workers),
            parkers: (0..workers).map(|_| Parker::new()).collect(),
            started: Mutex::new(0),
            all_started: Condvar::new(),
        })
    }

    fn publish(&self, id: usize) {
        self.injector.push(0, self.nodes.ready(id));
        self.wake_one();
    }

    fn wake_one(&self) {
        if let Some(w) = self.idle.claim_sleeper(0) {
            self.parkers[w].unpark();
        }
    }

    /// Worker `me` runs `share` fibers, one after the other.
    fn work(&self, me: usize, share: usize, run: fn(&Hub, NodePtr<Node>)) {
        self.go_on(me, false, share, run);
    }

    fn go_on(
        &self,
        me: usize,
        mut searching: bool,
        share: usize,
        run: fn(&Hub, NodePtr<Node>),
    ) {
        let mut left = share;
        while left > 0 {
            searching = searching || self.idle.try_search();
            if let Some(node) = self.injector.pop_any(0, 1).pop_front() {
                if searching && self.idle.found_work() && !self.injector.is_empty() {
                    self.wake_one();
                }
                searching = false;
                run(self, node);
                left -= 1;
                continue;
            }
            searching = self.sleep(me, searching);
        }
        if searching {
            let _ = self.idle.found_work();
        }
    }

    /// S3 to S6: worker `me` has found nothing. True if it searches when it returns.
    fn sleep(&self, me: usize, searching: bool) -> bool {
        let look_again = self.idle.announce(me, searching);
        if look_again && !self.injector.is_empty() {
            self.idle.resume_search(me);
            return true;
        }
        self.parkers[me].park();
        self.idle.retract(me)
    }

    /// Runs a fiber until all have been started.
    fn run_for_ever(&self, node: NodePtr<Node>) {
        self.nodes.take(node);
        let mut started = self.started.lock();
        *started += 1;
        self.all_started.notify_one();
        while *started < self.nodes.len() {
            started = self.all_started.wait(started);
        }
    }

    fn run_briefly(&self, node: NodePtr<Node>) {
        self.nodes.take(node);
    }

    fn thread(
        self: &Arc<Self>,
        body: impl FnOnce(&Hub) + Send + 'static,
    ) -> JoinHandle<()> {
        let hub = Arc::clone(self);
        thread::spawn(String::new(), move || body(&hub)).expect("a modelled thread")
    }

    fn close(&self, threads: impl IntoIterator<Item = JoinHandle<()>>) {
        threads
            .into_iter()
            .for_each(|thread| thread.join().expect("the thread passes"));
        self.nodes.assert_each_once();
        assert!(self.injector.is_empty());
        assert_eq!(
            self.idle.searching(),
            0,
            "a member still counts as searching"
        );
    }
}

// Proves: B7, C9, C12, Q4.
#[test]
fn model_idle_publish_against_sleep() {
    explore("idle_publish_against_sleep", 3, || {
        let hub = Hub::new(1, 2);
        let worker = hub.thread(|hub| hub.work(0, 2, Hub::run_briefly));
        hub.publish(0);
        hub.publish(1);
        hub.close([worker]);
    });
}

#[test]
fn model_idle_two_publishers_one_worker() {
    explore("idle_two_publishers_one_worker", 3, || {
        let hub = Hub::new(1, 2);
        let worker = hub.thread(|hub| hub.work(0, 2, Hub::run_briefly));
        let other = hub.thread(|hub| hub.publish(0));
        hub.publish(1);
        hub.close([worker, other]);
    });
}

/// Both workers are needed: the one that finds the first fiber as the last searcher must wake the
/// other for the second.
// Proves: C5.
#[test]
fn model_idle_last_searcher_wakes_another() {
    explore("idle_last_searcher_wakes_another", 2, || {
        let hub = Hub::new(2, 2);
        let worker = hub.thread(|hub| hub.work(1, 1, Hub::run_for_ever));
        let publisher = hub.thread(|hub| {
            hub.publish(0);
            hub.publish(1);
        });
        hub.work(0, 1, Hub::run_for_ever);
        hub.close([worker, publisher]);
    });
}

/// A publisher counts a searcher, but the only sleeper gets up by itself. Meanwhile others rely on
/// that searcher: worker 0, which publishes a fiber and continues to compute, and worker 1, which
/// had found nothing before that.
#[test]
fn model_idle_claim_of_a_worker_that_gets_up() {
    explore("idle_claim_of_a_worker_that_gets_up", 3, || {
        let hub = Hub::new(2, 1);
        let _ = hub.idle.announce(0, false);
        let early = hub.thread(|hub| {
            let claimed = hub.idle.retract(0);
            if claimed && hub.idle.found_work() && !hub.injector.is_empty() {
                hub.wake_one();
            }
            hub.publish(0);
        });
        let late = hub.thread(|hub| {
            let searching = hub.sleep(1, false);
            hub.go_on(1, searching, 1, Hub::run_briefly);
        });
        hub.wake_one();
        hub.close([early, late]);
    });
}

/// A monitor that stops while all sleep. Worker 0 wakes up and leaves young work behind; worker 1
/// goes to sleep. If the monitor has stopped, one of them sees it and starts it: worker 0 if it
/// sees worker 1 asleep, else worker 1, which sees worker 0 awake. A monitor that is not started
/// stays parked, which loom reports.
#[test]
fn model_idle_stop_while_all_sleep() {
    explore("idle_stop_while_all_sleep", 3, || {
        let hub = Hub::new(2, 0);
        let _ = hub.idle.announce(0, false);
        let monitor = Arc::new((AtomicBool::new(false), Parker::new()));
        let start = |monitor: &(AtomicBool, Parker)| {
            if monitor.0.load(Ordering::Relaxed) {
                monitor.1.unpark();
            }
        };
        let wakes = {
            let monitor = Arc::clone(&monitor);
            hub.thread(move |hub| {
                let claimed = hub.idle.retract(0);
                assert!(!claimed);
                if hub.idle.sleepers_hint() {
                    start(&monitor);
                }
            })
        };
        let sleeps = {
            let monitor = Arc::clone(&monitor);
            hub.thread(move |hub| {
                let _ = hub.idle.announce(1, false);
                if !hub.idle.all_asleep() {
                    start(&monitor);
                }
            })
        };
        monitor.0.store(true, Ordering::Relaxed);
        if hub.idle.all_asleep() {
            monitor.1.park();
        }
        hub.close([wakes, sleeps]);
    });
}

/// A monitor that stops while all sleep, beside a worker apart that gets up, or the last member
/// that does. Each leaves fresh work behind and sees no sleeper that it could wake; if the monitor
/// has stopped, it starts it.
#[test]
fn model_idle_stop_beside_one_that_gets_up() {
    for apart in [false, true] {
        explore("idle_stop_beside_one_that_gets_up", 3, move || {
            let hub = Hub::new(1, 0);
            let _ = hub.idle.announce(0, false);
            let monitor = Arc::new((AtomicBool::new(false), Parker::new()));
            let wakes = {
                let monitor = Arc::clone(&monitor);
                hub.thread(move |hub| {
                    if apart {
                        hub.idle.wake_apart();
                    } else {
                        assert!(!hub.idle.retract(0));
                    }
                    if monitor.0.load(Ordering::Relaxed) {
                        monitor.1.unpark();
                    }
                })
            };
            monitor.0.store(true, Ordering::Relaxed);
            if hub.idle.all_asleep() {
                monitor.1.park();
            }
            hub.close([wakes]);
        });
    }
}
