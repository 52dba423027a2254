//! Where fibers settle: those of one spawn line are spread over the workers if they stay, and kept
//! together if they only communicate; those that hold their threads start apart.
//!
//! Most tests compare where fibers started. They run alone all the same: a worker that another
//! process delays for 4 ms loses the fibers that were placed on it.
// Under ThreadSanitizer threads wake so slowly that fibers placed on them are taken back.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel::{self, Receiver};
use pirn::diag::LineClass;
use pirn::net::{TcpListener, TcpStream};
use pirn::runtime::{Handle, Spread};
use pirn::time::now;
use pirn::{Runtime, sleep, spawn};

use crate::executor_kind::runtime;
use crate::util::{compute_until, eventually};

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
    pub(crate) fn assert_spread(&self, fibers: usize, workers: usize, what: &str) {
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
pub(crate) fn take(seen: &Seen, jobs: impl IntoIterator<Item = ()>) {
    seen.note();
    jobs.into_iter().for_each(drop);
}

/// A server has its fibers on all workers, though connections are opened one by one while it is
/// idle, or all at once.
// Proves: B20, B20-pools.
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
    for (workers, fibers) in [(2, 48), (4, 48), (8, 96)] {
        for (what, pattern) in patterns {
            let (runtime, seen) = (runtime(workers), Seen::default());
            let (stop, rx) = channel::bounded(0);
            runtime.run(|| {
                for i in 0..fibers {
                    pattern(i, &|| {
                        let (seen, rx) = (seen.clone(), rx.clone());
                        spawn(move || take(&seen, rx));
                    });
                }
            });
            seen.assert_spread(fibers, workers, what);
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
    // By then the line is known. After it a worker that happens to be awake may still take one of
    // the two; a line that is spread has them apart in every round.
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

/// Without spreading fibers start where they are found; with even spreading, also those that
/// communicate and those that end soon are spread.
// Proves: B20-asked.
#[test]
fn spread_is_obeyed() {
    const SHORT_BURSTS: usize = 100;
    let started = |spread| {
        let runtime = Runtime::builder()
            .workers(2)
            .max_threads(2)
            .spread(spread)
            .build()
            .unwrap();
        let stop = Token::new();
        let seen = Seen::default();
        runtime.run(|| {
            // Short ones, from the same line as those that stay. One burst may be balanced by
            // stealing alone: about one in a hundred is.
            for burst in 0..=SHORT_BURSTS {
                let stays = burst == SHORT_BURSTS;
                let all: Vec<_> = (0..20)
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
