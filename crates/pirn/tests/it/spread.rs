//! Where fibers settle: those of one spawn line are spread over the workers if they stay, and kept
//! together if they only communicate; those that hold their threads start apart.
//!
//! Most tests compare where fibers started. They run alone all the same: a worker that another process
//! delays for 4 ms loses the fibers that were placed on it.
// Under ThreadSanitizer threads wake so slowly that fibers placed on them are taken back.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel::{self, Receiver};
use pirn::diag::{LineClass, ScaleReason};
use pirn::dispatcher::Dispatcher;
use pirn::net::{TcpListener, TcpStream};
use pirn::runtime::{Handle, Spread};
use pirn::scope::TaskGroup;
use pirn::spawn::checkpoint;
use pirn::sync::Condvar;
use pirn::time::now;
use pirn::{Runtime, blocking, compute, sleep, spawn};

use crate::executor_kind::runtime;
use crate::util::{SLACK, compute_until, eventually, scaled, slow_wake};

/// The threads on which fibers have started.
#[derive(Clone)]
pub(crate) struct Seen(Arc<Starts>);

/// Without a lock: a worker that waits for one has to give its fibers away.
pub(crate) struct Starts {
    count: AtomicUsize,
    threads: [AtomicUsize; 512],
}

impl Default for Seen {
    fn default() -> Seen {
        Seen(Arc::new(Starts {
            count: AtomicUsize::new(0),
            threads: [const { AtomicUsize::new(0) }; 512],
        }))
    }
}

impl Seen {
    /// Records the start of the calling fiber.
    pub(crate) fn note(&self) {
        thread_local!(static HERE: u8 = const { 0 });
        let thread = HERE.with(|here| ptr::from_ref(here).addr());
        let at = self.0.count.fetch_add(1, Ordering::SeqCst);
        self.0.threads[at].store(thread, Ordering::SeqCst);
    }

    /// Returns how many fibers have recorded their threads.
    pub(crate) fn count(&self) -> usize {
        let noted = |thread: &&AtomicUsize| thread.load(Ordering::SeqCst) != 0;
        self.0.threads.iter().filter(noted).count()
    }

    /// Returns how many fibers started on each thread that started some, most first.
    pub(crate) fn shares(&self) -> Vec<usize> {
        let mut shares = HashMap::new();
        for thread in &self.0.threads {
            *shares.entry(thread.load(Ordering::SeqCst)).or_insert(0) += 1;
        }
        shares.remove(&0);
        let mut shares: Vec<usize> = shares.into_values().collect();
        shares.sort_unstable_by(|a, b| b.cmp(a));
        shares
    }

    /// Waits until `fibers` have started, and checks that they are spread over `workers`: no worker
    /// has more than 1.3 times the mean, and one.
    fn assert_spread(&self, fibers: usize, workers: usize, what: &str) {
        eventually("all fibers start", || self.count() == fibers);
        let shares = self.shares();
        // There are more threads where a worker waits for a processor.
        assert!(shares.len() >= fibers.min(workers), "{what}: {shares:?}");
        let most = fibers.div_ceil(workers) * 13 / 10 + 1;
        let most = if fibers <= workers { 1 } else { most };
        assert!(
            shares[0] <= most,
            "{what}: {shares:?} of {fibers} fibers on {workers} workers"
        );
    }
}

/// A pool's fiber: takes jobs until there are none.
fn take(seen: &Seen, jobs: impl IntoIterator<Item = ()>) {
    seen.note();
    jobs.into_iter().for_each(drop);
}

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

/// A pool of fibers that wait for jobs uses all workers, wherever it is spawned and however it waits.
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

/// A server has its fibers on all workers, though connections are opened one by one while it is
/// idle, or all at once.
// Proves: B20-pools.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_servers_are_spread() {
    for workers in [2, 4, 8] {
        for pause in [Duration::from_micros(300), Duration::ZERO] {
            let connections = if cfg!(debug_assertions) { 64 } else { 200 };
            let (runtime, seen) = (runtime(workers), Seen::default());
            let (tx, rx) = channel::bounded(1);
            let served = seen.clone();
            let accepting = runtime.spawn(move || {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                tx.send(listener.local_addr().unwrap()).unwrap();
                for stream in listener.incoming().take(connections) {
                    let (mut stream, seen): (TcpStream, _) =
                        (stream.unwrap(), served.clone());
                    spawn(move || {
                        seen.note();
                        let mut byte = [0];
                        while matches!(stream.read(&mut byte), Ok(1)) {
                            stream.write_all(&byte).unwrap();
                        }
                    });
                }
            });
            let address = rx.recv().unwrap();
            let open = || {
                let stream = std::net::TcpStream::connect(address).unwrap();
                thread::sleep(pause);
                stream
            };
            let streams: Vec<_> = (0..connections).map(|_| open()).collect();
            seen.assert_spread(connections, workers, "connections");
            drop(streams);
            accepting.join().unwrap();
        }
    }
}

/// In any order of arrivals, the fibers that stay are spread.
// Proves: B20-pools.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_arrivals_of_any_kind_are_spread() {
    const FIBERS: usize = 48;
    type Pattern = fn(usize, &(dyn Fn() + Sync));
    let patterns: [(&str, Pattern); 10] = [
        ("at once", |_, spawn| spawn()),
        ("one by one", |_, spawn| {
            spawn();
            sleep(Duration::from_micros(200)).unwrap();
        }),
        ("in bursts of eight", |i, spawn| {
            spawn();
            if i % 8 == 7 {
                sleep(Duration::from_millis(2)).unwrap();
            }
        }),
        ("between yields", |_, spawn| {
            spawn();
            pirn::yield_now();
        }),
        ("between short fibers", |_, spawn| {
            (0..10).for_each(|_| pirn::spawn(|| ()).join().unwrap());
            spawn();
        }),
        ("while the spawner computes", |_, spawn| {
            spawn();
            let until = now() + Duration::from_micros(10);
            compute_until("a moment", || now() > until);
        }),
        ("by fibers that end", |_, spawn| {
            pirn::scope(|s| {
                s.spawn(spawn);
            });
        }),
        ("by two at a time", |i, spawn| {
            if i % 2 == 0 {
                pirn::scope(|s| {
                    s.spawn(spawn);
                    s.spawn(spawn);
                });
            }
        }),
        ("beside one that waits and comes back", |_, spawn| {
            let other = pirn::spawn(|| sleep(Duration::from_micros(100)).unwrap());
            spawn();
            other.join().unwrap();
        }),
        ("in bursts that grow", |i, spawn| {
            spawn();
            if (i + 1).is_power_of_two() {
                sleep(Duration::from_millis(1)).unwrap();
            }
        }),
    ];
    for workers in [2, 4] {
        for (what, pattern) in patterns {
            let (runtime, seen) = (runtime(workers), Seen::default());
            let (stop, rx) = channel::bounded(0);
            runtime.run(|| {
                for i in 0..FIBERS {
                    pattern(i, &|| {
                        let (seen, rx) = (seen.clone(), rx.clone());
                        spawn(move || take(&seen, rx));
                    });
                }
            });
            seen.assert_spread(FIBERS, workers, what);
            drop(stop);
        }
    }
}

/// The same while other threads take the processors away from the workers: a worker that waits for
/// a processor does not count as stuck.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fibers_are_spread_on_a_busy_machine() {
    const FIBERS: usize = 400;
    let over = AtomicBool::new(false);
    thread::scope(|s| {
        let processors = thread::available_parallelism().unwrap().get();
        for _ in 0..2 * processors {
            s.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let worst = (0..8).map(|_| {
            let (runtime, seen) = (runtime(2), Seen::default());
            let (stop, rx) = channel::bounded(0);
            runtime.run(|| {
                for started in 1..=FIBERS {
                    let (seen, rx, here) = (seen.clone(), rx.clone(), seen.clone());
                    spawn(move || take(&here, rx));
                    while seen.count() < started {
                        pirn::yield_now();
                    }
                }
            });
            drop(stop);
            seen.shares()[0]
        });
        let mut worst: Vec<_> = worst.collect();
        over.store(true, Ordering::Relaxed);
        worst.sort_unstable();
        assert!(
            worst[5] <= FIBERS * 13 / 20,
            "{worst:?} of {FIBERS} on one worker"
        );
    });
}

fn class_of(runtime: &Handle, file: &str, line: u32) -> Option<LineClass> {
    let lines = runtime.spawn_lines();
    let here = lines.iter().find(|known| {
        known.location.file().ends_with(file) && known.location.line() == line
    });
    here.map(|known| known.class)
}

/// Fibers of one line that only pass messages to each other are kept on one worker, once the line
/// has that history.
// Proves: B20-talk.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_talkers_of_one_line_come_together() {
    const TRIPS: usize = 20_000;
    // By then the line is known. After it a worker that happens to be awake may still take one of the two; a
    // line that is spread has them apart in every round.
    const KNOWN: usize = 5;
    let runtime = runtime(2);
    let mut apart = Vec::new();
    let mut line = 0;
    for _ in 0..20 {
        let seen = Seen::default();
        runtime.run(|| {
            let (there, far) = channel::bounded::<()>(0);
            let (back, near) = channel::bounded::<()>(0);
            let ends = [(there, near, true), (back, far, false)];
            let talk = |(tx, rx, first): (channel::Sender<()>, Receiver<()>, bool)| {
                let seen = seen.clone();
                let talking = move || {
                    seen.note();
                    for _ in 0..TRIPS {
                        if first {
                            tx.send(()).unwrap();
                        }
                        rx.recv().unwrap();
                        if !first {
                            tx.send(()).unwrap();
                        }
                    }
                };
                line = line!() + 1;
                spawn(talking)
            };
            let both = ends.map(talk);
            both.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
        apart.push(seen.shares().len() > 1);
    }
    assert_eq!(
        class_of(&runtime, "spread.rs", line),
        Some(LineClass::Together)
    );
    let stolen = apart[KNOWN..].iter().filter(|apart| **apart).count();
    assert!(stolen <= 5, "apart in rounds {apart:?}");
}

/// Fibers of a line with a history of blocking get a thread each.
// Proves: E2-lines.
#[test]
fn blocking_lines_get_threads() {
    const FIBERS: usize = 12;
    let runtime = runtime(2);
    let burst = || {
        let seen = Seen::default();
        runtime.scope(|s| {
            for _ in 0..FIBERS {
                s.spawn(|| {
                    sleep(Duration::from_millis(5)).unwrap();
                    seen.note();
                    thread::sleep(Duration::from_millis(60));
                });
            }
        });
        seen.shares()
    };
    let first = burst();
    assert!(first.len() <= 3, "{first:?}");
    // The monitor detects which fibers have held their threads for long.
    let mut second = Vec::new();
    let known = (0..5).any(|_| {
        second = burst();
        second.len() == FIBERS
    });
    assert!(known, "{second:?}");
    let decisions = runtime.metrics().scale;
    let apart = decisions
        .iter()
        .find(|(reason, _)| *reason == ScaleReason::Apart);
    assert!(
        apart.is_some_and(|(_, times)| *times >= 10),
        "{decisions:?}"
    );
}

/// Fibers that compute, and then wait for each other in the system, all start, though their line
/// has a history of computing and there are more of them than threads for that.
#[test]
fn computing_fibers_that_block_for_each_other_meet() {
    const FIBERS: usize = 12;
    for asks in [false, true] {
        let runtime = runtime(2);
        let meeting = Barrier::new(FIBERS);
        let met = AtomicUsize::new(0);
        let meet = || {
            let until = now() + Duration::from_millis(15);
            compute_until("a while", || now() > until);
            meeting.wait();
            met.fetch_add(1, Ordering::SeqCst);
        };
        runtime.scope(|s| {
            for _ in 0..FIBERS {
                s.spawn(|| match asks {
                    true => compute(meet),
                    false => meet(),
                });
            }
        });
        assert_eq!(met.into_inner(), FIBERS);
    }
}

/// Uses a thread's processor time until `stop`.
fn hog(stop: &AtomicBool) {
    compute_until("the end", || stop.load(Ordering::SeqCst));
}

/// A fresh fiber starts beside as many computing ones as there are workers, within 5 ms, and no more
/// than twice as many threads as workers compute.
// Proves: E2-fresh.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_fresh_fiber_starts_beside_computing_ones() {
    const WORKERS: usize = 2;
    let mut waits = Vec::new();
    let mut slowest = slow_wake();
    for _ in 0..scaled(40) {
        let (runtime, stop) = (runtime(WORKERS), AtomicBool::new(false));
        let inside = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..WORKERS {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    hog(&stop);
                });
            }
            eventually("all compute", || inside.load(Ordering::SeqCst) == WORKERS);
            let spawned = now();
            waits.push(s.spawn(move || now() - spawned).join().unwrap());
            let threads = runtime.metrics().workers.len();
            stop.store(true, Ordering::SeqCst);
            assert!(threads <= 2 * WORKERS, "{threads} threads of workers");
        });
    }
    slowest = slowest.max(slow_wake());
    waits.sort_unstable();
    let (half, most) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    let bound = SLACK * Duration::from_millis(5) + 4 * slowest;
    assert!(
        half < bound,
        "half waited for {half:?} or more, of {waits:?}"
    );
    assert!(
        most < 4 * bound,
        "one waited for {most:?}, threads {slowest:?}"
    );
}

/// Sleeps end in time beside computing fibers, if the spawn line of those has a history of
/// computing.
// Proves: E2-lines.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_sleeps_beside_known_hogs() {
    let runtime = runtime(2);
    let mut late = Vec::new();
    for round in 0..4 {
        let stop = AtomicBool::new(false);
        runtime.scope(|s| {
            let sleeper = s.spawn(|| {
                let mut late = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    let began = now();
                    sleep(Duration::from_millis(1)).unwrap();
                    late.push((now() - began).saturating_sub(Duration::from_millis(1)));
                }
                late
            });
            thread::sleep(Duration::from_millis(5));
            let hogs = [0, 1].map(|_| {
                s.spawn(|| {
                    let until = now() + Duration::from_millis(300);
                    compute_until("a while", || now() > until);
                })
            });
            hogs.into_iter().for_each(|hog| hog.join().unwrap());
            stop.store(true, Ordering::SeqCst);
            let seen = sleeper.join().unwrap();
            if round > 0 {
                late.extend(seen);
            }
        });
    }
    late.sort_unstable();
    let (p99, n) = (late[late.len() * 99 / 100], late.len());
    let bound = SLACK * Duration::from_millis(5) + 4 * slow_wake();
    assert!(
        p99 <= bound,
        "{p99:?} late in one of a hundred of {n} sleeps"
    );
    assert!(n > 300, "only {n} sleeps ended");
}

/// A computation runs beside the workers, under the caller's token; its result, and its panic, are
/// the caller's.
// Proves: E2-apart.
#[test]
fn a_computation_runs_apart() {
    // On a plain thread it is a call.
    let own = thread::current().id();
    assert_eq!(compute(|| thread::current().id()), own);
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let text = String::from("borrowed");
        runtime.run(|| {
            let own = thread::current().id();
            let (there, length) = compute(|| (thread::current().id(), text.len()));
            assert_eq!(length, 8);
            // A runtime with one worker has no other thread.
            assert_eq!(there == own, workers == 1);
            // Inside another one it is a call.
            let nested = compute(|| {
                let own = thread::current().id();
                compute(|| thread::current().id()) == own
            });
            assert!(nested || workers == 1);
            let raised = std::panic::catch_unwind(|| compute(|| panic!("so")));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        });
    }
}

/// A computation that checks for interrupts ends when its caller is cancelled; one that began under
/// a cancelled token runs all the same.
// Proves: E2-apart.
#[test]
fn a_computation_is_cancelled_with_its_caller() {
    let runtime = runtime(2);
    let (token, began) = (Token::new(), AtomicBool::new(false));
    let rounds = runtime.scope(|s| {
        let (token, began) = (&token, &began);
        let caller = s.spawn(move || {
            token.enter(|| {
                compute(|| {
                    began.store(true, Ordering::SeqCst);
                    (0..).find(|_| checkpoint().is_err())
                })
            })
        });
        eventually("it computes", || began.load(Ordering::SeqCst));
        token.cancel();
        caller.join().unwrap()
    });
    assert!(rounds.is_some());
    runtime.run(|| {
        let token = Token::new();
        token.cancel();
        assert_eq!(token.enter(|| compute(|| 5)), 5);
    });
}

/// Computations take turns on as many threads as there are workers, or twice as many where they wait for
/// long, and all of them end.
// Proves: E2-apart.
#[test]
fn computations_take_turns() {
    let runtime = runtime(2);
    let (now_inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let total: usize = runtime.scope(|s| {
        let each = |n: usize| {
            let (now_inside, most) = (&now_inside, &most);
            s.spawn(move || {
                compute(|| {
                    let inside = now_inside.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(inside, Ordering::SeqCst);
                    let until = now() + Duration::from_millis(2);
                    compute_until("a moment", || now() > until);
                    now_inside.fetch_sub(1, Ordering::SeqCst);
                    n
                })
            })
        };
        let all: Vec<_> = (0..40).map(each).collect();
        all.into_iter().map(|fiber| fiber.join().unwrap()).sum()
    });
    assert_eq!(total, 40 * 39 / 2);
    assert!(most.into_inner() <= 4);
}

/// A fiber configured to start apart does, and one configured not to does not, with any history of
/// its line.
// Proves: E2-apart.
#[test]
fn apart_is_obeyed() {
    let runtime = runtime(2);
    let place = |apart: Option<bool>, hold: Duration| {
        runtime.run(|| {
            let mut builder = spawn::Builder::new();
            if let Some(apart) = apart {
                builder = builder.apart(apart);
            }
            let placed = builder.spawn(move || {
                blocking::block_in_place(|| thread::sleep(hold));
                thread::current().name().map(str::to_owned)
            });
            placed.unwrap().join().unwrap().unwrap()
        })
    };
    let is_member = |name: &str| name == "pirn-0" || name == "pirn-1";
    assert!(!is_member(&place(Some(true), Duration::ZERO)));
    // The line gets a history of holding its thread.
    eventually("it is known", || {
        let name = place(None, Duration::from_millis(60));
        !is_member(&name)
    });
    assert!(is_member(&place(Some(false), Duration::ZERO)));
    // In a scope too.
    let name = runtime.run(|| {
        pirn::scope(|s| {
            let apart = spawn::Builder::new().apart(true);
            let name = || thread::current().name().map(str::to_owned);
            apart.spawn_scoped(s, name).unwrap().join().unwrap()
        })
    });
    assert!(!is_member(&name.unwrap()));
}

/// Without spreading fibers start where they are found; with even spreading, also those that
/// communicate and those that end soon are spread.
// Proves: B20-asked.
#[test]
fn spread_is_obeyed() {
    let started = |spread| {
        let runtime = Runtime::builder()
            .workers(2)
            .spread(spread)
            .build()
            .unwrap();
        let stop = Token::new();
        let seen = Seen::default();
        runtime.run(|| {
            // Short ones, from the same line as those that stay.
            for fibers in [40, 20] {
                let stays = fibers == 20;
                let all: Vec<_> = (0..fibers)
                    .map(|_| {
                        let (seen, stop) = (seen.clone(), stop.clone());
                        spawn(move || {
                            if stays {
                                seen.note();
                                stop.wait();
                            }
                        })
                    })
                    .collect();
                if !stays {
                    all.into_iter().for_each(|fiber| fiber.join().unwrap());
                }
            }
            while seen.count() < 20 {
                sleep(Duration::from_millis(1)).unwrap();
            }
        });
        stop.cancel();
        (seen.shares(), runtime.metrics().total.placed_elsewhere)
    };
    let (even, placed) = started(Spread::Evenly);
    assert!(even.len() == 2 && even[0] <= 13, "{even:?}");
    assert!(placed > 0);
    let (_, placed) = started(Spread::Never);
    assert_eq!(placed, 0);
}
