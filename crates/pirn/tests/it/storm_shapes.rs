//! Runtimes, dispatchers and scopes that end, or are cancelled, amid activity.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::cancel::Token;
use pirn::channel::{self, Receiver, Sender};
use pirn::dispatcher::Dispatcher;
use pirn::scope::TaskGroup;
use pirn::spawn::{JoinError, Rejected, park_interruptible};
use pirn::sync::{Condvar, Event, Mutex, Semaphore, WaitGroup};
use pirn::{Interrupt, JoinHandle, Runtime};

use crate::cancel_fuzz::{Count, again_and_again};
use crate::util::{
    Dice, Drops, LONG, SLACK, apart, compute_until, eventually, resident, scaled,
};

/// Objects that parked fibers wait for, without a waker.
struct Places {
    empty: (Sender<()>, Receiver<()>),
    full: (Sender<()>, Receiver<()>),
    held: Mutex<()>,
    told: Condvar,
    none_left: Semaphore,
    never: Event,
    group: WaitGroup,
}

impl Places {
    fn new() -> Places {
        let group = WaitGroup::new();
        group.add(1);
        let full = channel::bounded(1);
        full.0.try_send(()).expect("there is room for one");
        Places {
            empty: channel::bounded(0),
            full,
            held: Mutex::new(()),
            told: Condvar::new(),
            none_left: Semaphore::new(0),
            never: Event::manual(),
            group,
        }
    }

    /// Waits in one of many ways until interrupted; returns true if by a cancellation.
    fn wait(&self, how: usize) -> bool {
        let cancelled = Err(Interrupt::Cancelled);
        match how % 13 {
            0 => park_interruptible() == cancelled,
            1 => pirn::sleep(LONG * 100) == cancelled,
            2 => self.empty.1.recv().is_err(),
            3 => self.full.0.send(()).is_err(),
            4 => {
                let guard = self.held.lock();
                self.told.wait_interruptible(guard).is_err()
            }
            5 => self.none_left.acquire(1).is_err(),
            6 => self.never.wait() == cancelled,
            7 => self.group.clone().wait() == cancelled,
            8 => {
                let child = pirn::spawn(park_interruptible);
                // It may be cancelled, and end, before its parent.
                child.join().map_or(true, |ended| ended == cancelled)
            }
            9 => pirn::scope(|s| {
                let child = s.spawn(park_interruptible);
                child.join().map_or(true, |ended| ended == cancelled)
            }),
            10 => {
                let group = TaskGroup::new();
                let added = group.spawn(park_interruptible);
                added.is_err() || group.join_next().is_err() || group.is_empty()
            }
            11 => {
                pirn::time::interval(LONG * 100).tick().is_err() || {
                    // The first tick is at once.
                    pirn::sleep(LONG * 100) == cancelled
                }
            }
            _ => pirn::select! {
                recv(self.empty.1) -> value => value.is_err(),
                after(LONG * 100) => false,
            },
        }
    }
}

/// Thousands of fibers parked in every kind of wait, and thousands queued: all end on
/// request, and their captures are dropped once. Exactly those that sleep in the system are
/// reported.
// Proves: A9, F20.
#[test]
fn all_end_but_sleepers_in_the_system() {
    const SLEEPERS: usize = 5;
    let n = scaled(10_000);
    for workers in [2, 8] {
        let builder = Runtime::builder().workers(workers).max_threads(64);
        let runtime = builder.build().unwrap();
        let (drops, gate) = (Drops::default(), Arc::new(AtomicBool::new(false)));
        // First, so that no fiber settles behind them.
        let asleep = Count::default();
        let sleepers: Vec<_> = (0..SLEEPERS)
            .map(|_| {
                let (gate, asleep) = (Arc::clone(&gate), asleep.clone());
                let capture = drops.one();
                runtime.spawn(move || {
                    let _capture = capture;
                    asleep.one();
                    while !gate.load(Ordering::SeqCst) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    17
                })
            })
            .collect();
        eventually("all sleep", || asleep.get() == SLEEPERS as u64);
        let places = Arc::new(Places::new());
        let waits = Count::default();
        let parked: Vec<JoinHandle<bool>> = (0..n)
            .map(|i| {
                let (places, waits) = (Arc::clone(&places), waits.clone());
                let capture = drops.one();
                runtime.spawn(move || {
                    let _capture = capture;
                    waits.one();
                    places.wait(i)
                })
            })
            .collect();
        eventually("all are about to wait", || waits.get() == n as u64);
        // Idle workers are kept busy while the rest is queued.
        let busy = Arc::new(AtomicBool::new(true));
        for _ in 0..workers {
            let busy = Arc::clone(&busy);
            runtime.spawn(move || {
                compute_until("the shutdown", || !busy.load(Ordering::SeqCst));
            });
        }
        let ran = Count::default();
        let queued: Vec<_> = (0..n)
            .map(|_| {
                let (capture, ran) = (drops.one(), ran.clone());
                runtime.spawn(move || {
                    ran.one();
                    drop(capture);
                })
            })
            .collect();
        busy.store(false, Ordering::SeqCst);
        // It takes all of this time, since the sleepers do not end.
        let error = runtime
            .shutdown(Duration::from_secs(4) * SLACK.min(8))
            .unwrap_err();
        let left: BTreeSet<_> = error.fibers().iter().map(|fiber| fiber.id).collect();
        let expected: BTreeSet<_> =
            sleepers.iter().map(|fiber| fiber.fiber().id()).collect();
        assert_eq!(left, expected, "{error}");
        for (i, fiber) in parked.into_iter().enumerate() {
            assert!(fiber.join().unwrap(), "way {}", i % 13);
        }
        let ended = queued.into_iter().map(JoinHandle::join);
        let not_run = ended
            .filter(|end| matches!(end, Err(JoinError::NotRun)))
            .count();
        assert_eq!(not_run as u64 + ran.get(), n as u64);
        assert_eq!(drops.count(), 2 * n);
        gate.store(true, Ordering::SeqCst);
        for fiber in sleepers {
            assert_eq!(fiber.join().unwrap(), 17);
        }
        assert_eq!(drops.count(), 2 * n + SLEEPERS);
    }
}

/// Several spawn, by every call, during a cancellation: each started fiber has finished, and
/// each unstarted or rejected one is dropped, once.
// Proves: E15, K4.
#[test]
fn spawning_in_every_way_while_cancelling() {
    again_and_again(60, |runtime, seed| {
        let drops = Drops::default();
        let (made, refused) = (Count::default(), Count::default());
        let (started, finished) = (Count::default(), Count::default());
        let job = || {
            made.one();
            let (started, finished) = (started.clone(), finished.clone());
            let capture = drops.one();
            move || {
                let _capture = capture;
                let number = started.one();
                if number % 3 == 0 {
                    let _ = pirn::sleep(LONG);
                }
                finished.one();
            }
        };
        let tell = |reason| {
            assert_eq!(reason, Rejected::Cancelled);
            refused.one();
        };
        let limited = runtime.dispatcher().limited(2);
        let group: TaskGroup<()> = TaskGroup::new().limit(40);
        runtime.run(|| {
            pirn::scope(|s| {
                for spawner in 0..6 {
                    let (job, tell) = (&job, &tell);
                    let (limited, group) = (&limited, &group);
                    s.spawn(move || {
                        for _ in 0..60 {
                            match spawner {
                                0 | 1 => match s.try_spawn(job()) {
                                    Ok(handle) => drop(handle),
                                    Err(error) => tell(error.reason()),
                                },
                                2 => drop(s.spawn(job())),
                                3 => drop(s.spawn_on(limited, job())),
                                4 => match group.spawn(job()) {
                                    Ok(_) => {}
                                    Err(error) => tell(error.reason()),
                                },
                                _ => pirn::scope(|inner| drop(inner.spawn(job()))),
                            }
                        }
                    });
                }
                let mut dice = Dice(seed as u64);
                match dice.below(2) {
                    0 => (0..dice.below(200)).for_each(|_| pirn::yield_now()),
                    _ => pirn::blocking(|| {
                        (0..dice.below(200_000)).for_each(|_| std::hint::spin_loop());
                    }),
                }
                s.cancel();
                group.cancel();
            });
        });
        group.wait().unwrap();
        assert_eq!(started.get(), finished.get());
        // A fiber that left a group is reported before its captures are dropped.
        eventually("everything is dropped", || {
            drops.count() as u64 == made.get()
        });
    });
}

/// Dispatchers that several threads at a time create and drop, with work under way that waits,
/// sends work on, is cancelled: all of it ends before its dispatcher, and no thread stays.
// Proves: L3.
#[test]
fn dispatchers_that_end_amid_work() {
    let part = || {
        let threads = || thread_count();
        let one_round = |seed: usize| {
            let mut dice = Dice(seed as u64);
            let own = Dispatcher::new(1 + dice.below(3)).expect("threads can be had");
            let (spawned, ended) = (Count::default(), Count::default());
            let views = [
                own.clone(),
                own.limited(1),
                own.limited(2).queue_limit(2),
                own.clone().queue_limit(1),
            ];
            let (tx, rx) = channel::bounded::<()>(1);
            for n in 0..12 {
                spawned.one();
                let (ended, rx) = (ended.clone(), rx.clone());
                let (tx, inner) = (tx.clone(), own.clone());
                let what = dice.below(5);
                let fiber = views[n % views.len()].spawn(move || {
                    match what {
                        0 => pirn::yield_now(),
                        1 => _ = pirn::sleep(Duration::from_micros(200)),
                        2 => drop(inner.spawn(pirn::yield_now)),
                        // Filled and emptied by any fiber.
                        3 => _ = tx.send_timeout((), Duration::from_micros(300)),
                        _ => _ = rx.recv_timeout(Duration::from_micros(300)),
                    }
                    // The last handle may be this one.
                    drop(inner);
                    ended.one();
                });
                match dice.below(4) {
                    0 => {
                        fiber.cancel();
                        if matches!(fiber.join(), Err(JoinError::NotRun)) {
                            spawned.back();
                        }
                    }
                    1 => fiber.join().unwrap(),
                    _ => drop(fiber),
                }
            }
            drop(views);
            drop(own);
            eventually("all have ended", || ended.get() == spawned.get());
        };
        (0..20).for_each(one_round);
        let before = threads();
        thread::scope(|s| {
            for part in 0..4 {
                s.spawn(move || (0..scaled(250)).for_each(|n| one_round(n * 4 + part)));
            }
        });
        // A fiber that drops its own dispatcher lets a thread wait for it.
        eventually("the threads are gone", || threads() <= before);
    };
    let name = "storm_shapes::dispatchers_that_end_amid_work";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

fn thread_count() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task");
    tasks.expect("is there").count()
}

/// A hundred thousand children of half a KiB through one scope: memory stays flat.
// Proves: K10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_large_children_of_one_scope_stay_flat() {
    let n = scaled(100_000);
    for workers in [1, 4] {
        let runtime = crate::executor_kind::runtime(workers);
        runtime.run(|| {
            let sum = AtomicUsize::new(0);
            pirn::scope(|s| {
                let wave = |wave: usize| {
                    for i in 0..500 {
                        let (capture, sum) = ([wave + i; 64], &sum);
                        s.spawn(move || {
                            let last = capture[capture.len() - 1];
                            sum.fetch_add(last, Ordering::Relaxed);
                        });
                    }
                    s.wait().unwrap();
                };
                (0..40).for_each(wave);
                let before = resident();
                (0..n / 500).for_each(wave);
                let grown = resident().saturating_sub(before);
                assert!(grown < SLACK as usize * (4 << 20), "{grown} bytes more");
            });
            assert!(sum.into_inner() > n);
        });
    }
}

/// A thread repeatedly cancels the token of a whole tree of scopes, deadlines and groups, while
/// runtimes start and end.
// Proves: K7.
#[test]
fn trees_that_are_cut_while_they_grow() {
    fn grow(depth: usize, alive: &Count) {
        alive.one();
        if depth > 0 {
            pirn::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| grow(depth - 1, alive));
                }
                let _ = pirn::timeout(Duration::from_micros(200), || pirn::sleep(LONG));
            });
        } else {
            let _ = pirn::sleep(LONG);
        }
        alive.back();
    }
    for round in 0..scaled(60) {
        let runtime = crate::executor_kind::runtime(1 + round % 4);
        let (token, alive) = (Token::new(), Count::default());
        let cutter = token.clone();
        let start = Instant::now();
        thread::scope(|threads| {
            threads.spawn(move || {
                thread::sleep(Duration::from_micros(round as u64 * 53 % 2_000));
                cutter.cancel();
            });
            runtime.run(|| token.enter(|| grow(4, &alive)));
        });
        assert_eq!(alive.get(), 0);
        assert!(start.elapsed() < LONG, "a fiber slept on");
        runtime.shutdown(LONG).unwrap();
    }
}
