//! Pools of fibers that wait for jobs are spread over the workers.
//!
//! They run alone: a worker that another process delays for 4 ms loses the fibers that were placed
//! on it.
// Under ThreadSanitizer threads wake so slowly that fibers placed on them are taken back.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::collections::VecDeque;
use std::thread;

use pirn::channel::{self, Receiver};
use pirn::dispatcher::Dispatcher;
use pirn::scope::TaskGroup;
use pirn::sync::Condvar;
use pirn::{Runtime, spawn};

use crate::executor_kind::runtime;
use crate::spread::{Seen, take};

/// A typical job queue with a lock.
#[derive(Default)]
struct Queue {
    jobs: pirn::sync::Mutex<(VecDeque<()>, bool)>,
    changed: Condvar,
}

impl Queue {
    fn next(&self) -> Option<()> {
        let mut jobs = self.jobs.lock();
        while jobs.0.is_empty() && !jobs.1 {
            jobs = self.changed.wait(jobs);
        }
        jobs.0.pop_front()
    }

    fn close(&self) {
        self.jobs.lock().1 = true;
        self.changed.notify_all();
    }
}

/// Spawns `fibers` with `spawn`, each of which takes jobs, and checks where they settled.
fn pool(
    what: &str,
    workers: usize,
    fibers: usize,
    body: impl FnOnce(&Runtime, &dyn Fn(&Seen) -> Receiver<()>, &Seen),
) {
    let runtime = runtime(workers);
    let (tx, rx) = channel::unbounded();
    let seen = Seen::default();
    let receiver = |_: &Seen| rx.clone();
    let watch = seen.clone();
    let what = format!("{what}, {workers} workers");
    thread::scope(|s| {
        s.spawn(move || {
            // Dropped by a panic too: the fibers end.
            let _tx = tx;
            watch.assert_spread(fibers, workers, &what);
        });
        body(&runtime, &receiver, &seen);
    });
}

/// A pool of fibers that wait for jobs uses all workers, wherever it is spawned and however it
/// waits.
// Proves: B20-pools.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_pools_are_spread() {
    for workers in [2, 4, 8] {
        for fibers in [2, 4, 16, 64] {
            pool(
                "spawned by a thread",
                workers,
                fibers,
                |runtime, rx, seen| {
                    let fiber = || {
                        let (rx, seen) = (rx(seen), seen.clone());
                        runtime.spawn(move || take(&seen, rx))
                    };
                    let all: Vec<_> = (0..fibers).map(|_| fiber()).collect();
                    all.into_iter().for_each(|fiber| fiber.join().unwrap());
                },
            );
            pool(
                "spawned by a fiber",
                workers,
                fibers,
                |runtime, rx, seen| {
                    let rx = rx(seen);
                    runtime.run(|| {
                        let fiber = || {
                            let (rx, seen) = (rx.clone(), seen.clone());
                            spawn(move || take(&seen, rx))
                        };
                        let all: Vec<_> = (0..fibers).map(|_| fiber()).collect();
                        all.into_iter().for_each(|fiber| fiber.join().unwrap());
                    });
                },
            );
            pool("of a scope", workers, fibers, |runtime, rx, seen| {
                let rx = rx(seen);
                runtime.run(|| {
                    pirn::scope(|s| {
                        for _ in 0..fibers {
                            s.spawn(|| take(seen, rx.clone()));
                        }
                    });
                });
            });
            pool("of a group", workers, fibers, |runtime, rx, seen| {
                let rx = rx(seen);
                runtime.run(|| {
                    let group = TaskGroup::new();
                    for _ in 0..fibers {
                        let (rx, seen) = (rx.clone(), seen.clone());
                        assert!(group.spawn(move || take(&seen, rx)).is_ok());
                    }
                    group.wait().unwrap();
                });
            });
        }
    }
}

/// The same on the workers of a dispatcher, which has a runtime of its own, and through a view of
/// the caller's runtime.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_pools_on_dispatchers_are_spread() {
    for workers in [2, 4] {
        for fibers in [2, 16, 64] {
            pool("on a dispatcher", workers, fibers, |runtime, rx, seen| {
                let rx = rx(seen);
                runtime.run(|| {
                    let dispatcher = Dispatcher::new(workers).unwrap();
                    let fiber = || {
                        let (rx, seen) = (rx.clone(), seen.clone());
                        dispatcher.spawn(move || take(&seen, rx))
                    };
                    let all: Vec<_> = (0..fibers).map(|_| fiber()).collect();
                    all.into_iter().for_each(|fiber| fiber.join().unwrap());
                });
            });
            pool("of a view", workers, fibers, |runtime, rx, seen| {
                let rx = rx(seen);
                runtime.run(|| {
                    let view = runtime.handle().dispatcher().limited(fibers);
                    let fiber = || {
                        let (rx, seen) = (rx.clone(), seen.clone());
                        view.spawn(move || take(&seen, rx))
                    };
                    let all: Vec<_> = (0..fibers).map(|_| fiber()).collect();
                    all.into_iter().for_each(|fiber| fiber.join().unwrap());
                });
            });
        }
    }
}

/// The same with a lock and a condition, on which the fibers sleep.
// Proves: B20-pools.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_pools_over_a_lock_are_spread() {
    for workers in [2, 4] {
        let (runtime, seen) = (runtime(workers), Seen::default());
        let queue = Queue::default();
        runtime.scope(|s| {
            for _ in 0..16 {
                s.spawn(|| take(&seen, std::iter::from_fn(|| queue.next())));
            }
            seen.assert_spread(16, workers, "over a lock");
            queue.close();
        });
    }
}
