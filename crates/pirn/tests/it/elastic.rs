//! How many threads a runtime has: more while its workers are stuck, fewer on request, and nothing
//! is lost during the change.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::blocking::block_in_place;
use pirn::diag::ScaleReason;
use pirn::runtime::{Builder, Handle, Spread};

use crate::util::{LONG, SCHEDULERS, compute_until, eventually, scaled};

/// How many threads of workers exist, and how many have been started.
#[derive(Clone, Default)]
struct Threads {
    started: Arc<AtomicUsize>,
    stopped: Arc<AtomicUsize>,
}

impl Threads {
    /// Configures `builder` to count the threads of its runtimes.
    fn of(&self, builder: Builder) -> Builder {
        let (started, stopped) = (Arc::clone(&self.started), Arc::clone(&self.stopped));
        builder
            .on_thread_start(move || _ = started.fetch_add(1, Ordering::SeqCst))
            .on_thread_stop(move || _ = stopped.fetch_add(1, Ordering::SeqCst))
    }

    fn now(&self) -> usize {
        let stopped = self.stopped.load(Ordering::SeqCst);
        self.started.load(Ordering::SeqCst) - stopped
    }

    fn ever(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }
}

fn workers(n: usize) -> Builder {
    Runtime::builder().workers(n)
}

fn count(handle: &Handle, reason: ScaleReason) -> u64 {
    let decisions = handle.metrics().scale;
    let found = decisions.iter().find(|(of, _)| *of == reason);
    found.expect("every reason is counted").1
}

/// Waits until `gate` is open, in the system, repeatedly.
fn block(gate: &AtomicBool) {
    while !gate.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// One fiber that computes for long is no reason for a thread: no fiber waits behind it.
// Proves: E4.
#[test]
fn a_long_fiber_alone_starts_no_thread() {
    let threads = Threads::default();
    let runtime = threads.of(workers(2)).build().unwrap();
    runtime.run(|| {
        // Long enough for the monitor to react, if a fiber waited.
        let start = Instant::now();
        compute_until("time", || start.elapsed() > Duration::from_millis(300));
        // And during its checks.
        let other = pirn::spawn(|| thread::sleep(Duration::from_millis(300)));
        compute_until("a long nap", || other.is_finished());
    });
    assert!(threads.ever() <= 2, "{} threads", threads.ever());
    assert_eq!(count(&runtime, ScaleReason::Started), 0);
}

/// Fibers that block their threads all get one. The number of threads grows as long as some wait,
/// never beyond the fibers, and falls back to that of the workers.
// Proves: E2, E3, E8, E16.
#[test]
fn a_blocked_worker_gets_a_stand_in() {
    for scheduler in SCHEDULERS {
        let threads = Threads::default();
        let runtime = threads.of(workers(2).scheduler(scheduler)).build().unwrap();
        let inside = AtomicUsize::new(0);
        let gate = AtomicBool::new(false);
        runtime.scope(|s| {
            for _ in 0..64 {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    block(&gate);
                });
            }
            let mut most = 0;
            eventually("all block at once", || {
                let now = threads.now();
                assert!(now >= most, "{now} threads after {most}");
                most = now;
                inside.load(Ordering::SeqCst) == 64
            });
            // A fresh fiber starts all the same.
            assert_eq!(runtime.spawn(|| 5).join().unwrap(), 5);
            assert!(threads.now() <= 64 + 4, "{} threads", threads.now());
            gate.store(true, Ordering::SeqCst);
        });
        eventually("the threads go", || threads.now() <= 2);
        assert_eq!(runtime.spawn(|| 6).join().unwrap(), 6);
        // Some of them as holders for a spawn line with a history of blocking.
        let started = [ScaleReason::Started, ScaleReason::Apart];
        let started: u64 = started.map(|reason| count(&runtime, reason)).iter().sum();
        assert!(started >= 62, "{started} threads were started");
        // A thread counts as ended after its hook has run.
        eventually("all are counted", || {
            count(&runtime, ScaleReason::Retired) >= 62
        });
    }
}

/// Sixteen workers, a hundred fibers that block: each fiber spawned meanwhile starts while all of
/// them block.
// Proves: E12.
#[test]
fn a_hundred_kidnapped_threads() {
    let runtime = workers(16).build().unwrap();
    let inside = AtomicUsize::new(0);
    let gate = AtomicBool::new(false);
    runtime.scope(|s| {
        for _ in 0..100 {
            s.spawn(|| {
                let own = thread::current().id();
                inside.fetch_add(1, Ordering::SeqCst);
                block(&gate);
                pirn::yield_now();
                assert!(thread::current().id() == own || cfg!(pirn_free));
            });
        }
        let mut ran = 0;
        while inside.load(Ordering::SeqCst) < 100 {
            assert_eq!(runtime.spawn(move || ran).join().unwrap(), ran);
            ran += 1;
        }
        for n in 0..200 {
            assert_eq!(runtime.spawn(move || n).join().unwrap(), n);
        }
        gate.store(true, Ordering::SeqCst);
    });
    assert_eq!(runtime.metrics().total.rescues, 0);
}

/// A second wave uses threads of the first, or new ones; settled fibers keep theirs.
// Proves: E10.
#[test]
fn waves_of_blocking_calls() {
    let threads = Threads::default();
    let runtime = threads.of(workers(2)).build().unwrap();
    let (tx, rx) = pirn::channel::bounded::<()>(0);
    let mut settled = Vec::new();
    for wave in 0..4 {
        let inside = AtomicUsize::new(0);
        let gate = AtomicBool::new(false);
        runtime.scope(|s| {
            for _ in 0..20 {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    block(&gate);
                    let rx = rx.clone();
                    let stays = pirn::spawn(move || {
                        let own = thread::current().id();
                        assert!(rx.recv().is_err());
                        assert_eq!(thread::current().id(), own);
                    });
                    pirn::yield_now();
                    stays.detach();
                });
            }
            eventually("the wave is there", || inside.load(Ordering::SeqCst) == 20);
            gate.store(true, Ordering::SeqCst);
        });
        let rx = rx.clone();
        settled.push(runtime.spawn(move || assert!(rx.recv().is_err())));
        assert!(threads.now() <= 24 + 20 * wave, "{} threads", threads.now());
    }
    drop(tx);
    for fiber in settled {
        fiber.join().unwrap();
    }
    runtime.wait_idle().unwrap();
    eventually("the threads go", || threads.now() <= 2);
}

/// As many threads as allowed and no more: excess fibers wait.
// Proves: E2, E7, P9.
#[test]
fn never_more_threads_than_allowed() {
    for (builder, most) in [
        (workers(2).max_threads(2), 2),
        (workers(2).max_threads(0), 2),
        (workers(2).max_threads(5), 5),
        (workers(1), 1),
        (workers(1).max_threads(2), 2),
    ] {
        let threads = Threads::default();
        let runtime = threads.of(builder).build().unwrap();
        let (inside, gate) = (AtomicUsize::new(0), AtomicBool::new(false));
        runtime.scope(|s| {
            for _ in 0..10 {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    block(&gate);
                });
            }
            let full = || inside.load(Ordering::SeqCst) == most;
            eventually("as many as may block", full);
            thread::sleep(Duration::from_millis(30));
            assert_eq!(inside.load(Ordering::SeqCst), most);
            assert_eq!(runtime.metrics().pressure, 10 - most as u64);
            gate.store(true, Ordering::SeqCst);
        });
        assert_eq!(threads.ever(), most);
        assert_eq!(runtime.metrics().pressure, 0);
    }
}

/// A standby worker that is activated again, and one that is retired since the workers make
/// progress without it, are counted as such.
// Proves: E8.
#[test]
fn recalled_and_retired_standby_workers_are_counted() {
    for scheduler in SCHEDULERS {
        // A holder for a spawn line with a history would count under another reason.
        let builder = workers(1).max_threads(2).spread(Spread::Never);
        let runtime = builder.scheduler(scheduler).build().unwrap();
        eventually("one is activated again", || {
            runtime.run(|| {
                let child = pirn::spawn(|| ());
                eventually("the child runs elsewhere", || child.is_finished());
                child.join().unwrap();
            });
            count(&runtime, ScaleReason::Recalled) > 0
        });
        // Two compute at once; later both threads make progress.
        let (inside, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        runtime.scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    compute_until("both", || inside.load(Ordering::SeqCst) == 2);
                    while !over.load(Ordering::SeqCst) {
                        pirn::yield_now();
                    }
                });
            }
            let start = Instant::now();
            while count(&runtime, ScaleReason::SentAway) == 0 && start.elapsed() < LONG {
                thread::sleep(Duration::from_millis(1));
            }
            over.store(true, Ordering::SeqCst);
        });
        let sent_away = count(&runtime, ScaleReason::SentAway);
        assert_ne!(sent_away, 0, "the second thread was not retired");
    }
}

/// Workers that compute for long get standby workers beside them, up to twice their number.
// Proves: E2, E8.
#[test]
fn fibers_that_compute_for_long_have_company() {
    // A thread of a sanitizer also waits for its locks, and another one is activated for it.
    let has_locks = cfg!(any(pirn_asan, pirn_tsan));
    assert!(company_is_limited() || has_locks);
}

/// Returns false if more threads were activated than compute.
fn company_is_limited() -> bool {
    let threads = Threads::default();
    let runtime = threads.of(workers(2)).build().unwrap();
    let computing = AtomicUsize::new(0);
    let gate = AtomicBool::new(false);
    let fresh = AtomicBool::new(false);
    let is_limited = runtime.scope(|s| {
        let compute = || {
            computing.fetch_add(1, Ordering::SeqCst);
            compute_until("the end", || gate.load(Ordering::SeqCst));
        };
        s.spawn(compute);
        s.spawn(compute);
        eventually("both compute", || computing.load(Ordering::SeqCst) == 2);
        s.spawn(|| fresh.store(true, Ordering::SeqCst));
        eventually("a third one runs", || fresh.load(Ordering::SeqCst));
        s.spawn(compute);
        s.spawn(compute);
        eventually("four compute", || computing.load(Ordering::SeqCst) == 4);
        let late = s.spawn(|| ());
        let before = count(&runtime, ScaleReason::AtLimit);
        eventually("the limit is seen", || {
            count(&runtime, ScaleReason::AtLimit) > before || late.is_finished()
        });
        let is_limited = !late.is_finished() && threads.ever() == 4;
        gate.store(true, Ordering::SeqCst);
        is_limited
    });
    eventually("the threads go", || threads.now() <= 2);
    is_limited
}

/// Fresh fibers behind a fiber that blocks in place are started by other workers at once; started
/// ones wait.
// Proves: B11 (free), L9.
#[test]
fn blocking_in_place_hands_on() {
    for n in [1, 2, 4, 8] {
        let threads = Threads::default();
        let runtime = threads.of(workers(n).max_threads(512)).build().unwrap();
        let inside = AtomicUsize::new(0);
        let fibers = if cfg!(pirn_tsan) { 20 } else { 100 };
        runtime.scope(|s| {
            for _ in 0..fibers {
                s.spawn(|| {
                    block_in_place(|| {
                        inside.fetch_add(1, Ordering::SeqCst);
                        // Spawned inside, started elsewhere.
                        let own = thread::current().id();
                        let child = pirn::spawn(|| thread::current().id());
                        let all = || inside.load(Ordering::SeqCst) == fibers;
                        eventually("all block at once", all);
                        eventually("the child has run", || child.is_finished());
                        assert_ne!(child.join().unwrap(), own);
                    });
                });
            }
        });
        eventually("the threads go", || threads.now() <= n);
    }
    // On a plain thread it is a call.
    assert_eq!(block_in_place(|| 7), 7);
}

/// A panic in place ends the absence; so does a wait, and nesting counts.
// Proves: E12, L9.
#[test]
fn blocking_in_place_ends_as_it_should() {
    let runtime = workers(1).build().unwrap();
    runtime.run(|| {
        let raised = std::panic::catch_unwind(|| block_in_place(|| panic!("so")));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        block_in_place(|| {
            block_in_place(pirn::yield_now);
            let child = pirn::spawn(|| 3);
            assert_eq!(child.join().unwrap(), 3);
        });
        // Again the fiber spawned last runs next.
        let order = std::sync::Mutex::new(Vec::new());
        pirn::scope(|s| {
            for n in 0..3 {
                let order = &order;
                s.spawn(move || order.lock().unwrap().push(n));
            }
        });
        assert_eq!(order.into_inner().unwrap()[0], 2);
    });
}

/// The number of workers changes in the middle of a storm; each fiber runs once.
// Proves: E9, E15.
#[test]
fn resizing_in_a_storm() {
    for scheduler in SCHEDULERS {
        let threads = Threads::default();
        let runtime = threads.of(workers(2).scheduler(scheduler)).build().unwrap();
        let n = scaled(40_000);
        let ran = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for i in 0..n / 4 {
                        s.spawn(|| {
                            pirn::yield_now();
                            ran.fetch_add(1, Ordering::SeqCst);
                        });
                        if i % 64 == 0 {
                            pirn::yield_now();
                        }
                    }
                });
            }
            let handle = runtime.handle();
            for size in [8, 1, 3, 64, 2, 1, 8, 1].into_iter().cycle().take(40) {
                handle.set_workers(NonZeroUsize::new(size).unwrap());
                assert_eq!(handle.workers(), size);
                assert_eq!(handle.spawn(move || size).join().unwrap(), size);
            }
        });
        assert_eq!(ran.into_inner(), n / 4 * 4);
        assert_eq!(runtime.workers(), 1);
        eventually("one thread is left", || threads.now() == 1);
        assert_eq!(runtime.metrics().total.rescues, 0);
    }
}

/// Larger: the new workers start. Smaller: a worker with settled fibers stays until they end.
// Settled.
// Proves: E9.
#[cfg(not(pirn_free))]
#[test]
fn resizing_starts_and_ends_threads() {
    let threads = Threads::default();
    let runtime = threads.of(workers(1)).build().unwrap();
    let meet = |n: usize| {
        let arrived = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..n {
                s.spawn(|| {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    compute_until("all are there at once", || {
                        arrived.load(Ordering::SeqCst) >= n
                    });
                });
            }
        });
    };
    meet(1);
    runtime.set_workers(NonZeroUsize::new(6).unwrap());
    meet(6);
    let (tx, rx) = pirn::channel::bounded::<()>(0);
    let (inside, gate) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let parked: Vec<_> = (0..6)
        .map(|_| {
            let (rx, inside, gate) = (rx.clone(), Arc::clone(&inside), Arc::clone(&gate));
            runtime.spawn(move || {
                let own = thread::current().id();
                inside.fetch_add(1, Ordering::SeqCst);
                block(&gate);
                assert!(rx.recv().is_err());
                assert_eq!(thread::current().id(), own);
            })
        })
        .collect();
    eventually("one on each", || inside.load(Ordering::SeqCst) == 6);
    runtime.set_workers(NonZeroUsize::MIN);
    gate.store(true, Ordering::SeqCst);
    assert_eq!(runtime.spawn(|| 3).join().unwrap(), 3);
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(threads.now(), 6);
    drop(tx);
    for fiber in parked {
        fiber.join().unwrap();
    }
    eventually("one thread is left", || threads.now() == 1);
    runtime.set_workers(NonZeroUsize::new(3).unwrap());
    meet(3);
}

/// While its settled fibers run, a retiring worker takes no fiber from outside, and those that its
/// fibers spawn start elsewhere.
// Settled.
// Proves: E9.
#[cfg(not(pirn_free))]
#[test]
fn a_retiring_worker_takes_no_new_fibers() {
    use pirn::diag::WorkerState;

    let name = || thread::current().name().map(str::to_owned);
    for scheduler in SCHEDULERS {
        let builder = workers(2).max_threads(2).scheduler(scheduler);
        let runtime = builder.build().unwrap();
        let (inside, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (drains, spawned) = (AtomicBool::new(false), AtomicUsize::new(0));
        let state = || {
            let workers = runtime.metrics().workers;
            workers.get(1).map(|worker| worker.state)
        };
        let (from_outside, from_there) = runtime.scope(|s| {
            let stay = [(); 2].map(|()| {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    compute_until("one on each", || inside.load(Ordering::SeqCst) == 2);
                    let last = name() == Some("pirn-1".to_owned());
                    let mut started_on = Vec::new();
                    while !over.load(Ordering::SeqCst) {
                        pirn::yield_now();
                        if last && drains.load(Ordering::SeqCst) {
                            started_on.push(pirn::spawn(name).join().unwrap());
                            spawned.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                    started_on
                })
            });
            eventually("one on each", || inside.load(Ordering::SeqCst) == 2);
            runtime.set_workers(NonZeroUsize::MIN);
            let start = Instant::now();
            while state() != Some(WorkerState::Draining) && start.elapsed() < LONG {
                thread::sleep(Duration::from_millis(1));
            }
            drains.store(true, Ordering::SeqCst);
            let mut started_on = Vec::new();
            for _ in 0..20 {
                let fibers: Vec<_> = (0..50).map(|_| s.spawn(name)).collect();
                started_on.extend(fibers.into_iter().map(|fiber| fiber.join().unwrap()));
            }
            let start = Instant::now();
            while spawned.load(Ordering::SeqCst) == 0 && start.elapsed() < LONG {
                thread::sleep(Duration::from_millis(1));
            }
            over.store(true, Ordering::SeqCst);
            let from_there = stay.map(|fiber| fiber.join().unwrap());
            (started_on, from_there.concat())
        });
        assert!(!from_there.is_empty());
        let mut all = from_outside.iter().chain(&from_there);
        assert!(all.all(|name| name.as_deref() == Some("pirn-0")));
    }
}

/// Fresh fibers that were queued on a worker before it retired start elsewhere.
// Settled.
// Proves: E9.
#[cfg(not(pirn_free))]
#[test]
fn a_retiring_worker_hands_on_its_fresh_fibers() {
    use pirn::diag::WorkerState;

    // As many as fit into the worker's own queue, and many more than it runs between two rounds of
    // maintenance.
    const FRESH: usize = 250;
    let builder = workers(2).max_threads(2).spread(Spread::Never);
    let runtime = builder.build().unwrap();
    let is_last = || thread::current().name() == Some("pirn-1");
    let drains = || {
        let workers = runtime.metrics().workers;
        let state = workers.get(1).map(|worker| worker.state);
        state == Some(WorkerState::Draining)
    };
    let [inside, there, late] = [const { AtomicUsize::new(0) }; 3];
    runtime.scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                inside.fetch_add(1, Ordering::SeqCst);
                compute_until("one on each", || inside.load(Ordering::SeqCst) == 2);
                if !is_last() {
                    // Until then it takes none of them.
                    return compute_until("the other one retires", drains);
                }
                for _ in 0..FRESH {
                    s.spawn(|| {
                        if is_last() {
                            there.fetch_add(1, Ordering::SeqCst);
                            late.fetch_add(usize::from(drains()), Ordering::SeqCst);
                        }
                    });
                }
                runtime.set_workers(NonZeroUsize::MIN);
            });
        }
    });
    let there = there.into_inner();
    assert!(there < FRESH, "it has run all of them");
    assert_eq!(late.into_inner(), 0, "of {there} that it has run");
}

/// With `prewarm` all threads exist before the first spawn, otherwise one, and the others start
/// when there is work for them.
// Proves: E1, M6.
#[test]
fn a_warm_runtime_has_its_threads() {
    let threads = Threads::default();
    let warm = threads.of(workers(5).prewarm(100)).build().unwrap();
    eventually("all threads start", || threads.ever() == 5);
    assert_eq!(warm.run(|| 1), 1);
    let cold = Threads::default();
    let runtime = cold.of(workers(5)).build().unwrap();
    eventually("the first thread starts", || cold.ever() == 1);
    drop(runtime);
    assert_eq!(cold.ever(), 1);
    // No other thread may replace a worker here.
    let runtime = workers(5).max_threads(5).build().unwrap();
    let inside = AtomicUsize::new(0);
    runtime.scope(|s| {
        for _ in 0..5 {
            s.spawn(|| {
                inside.fetch_add(1, Ordering::SeqCst);
                let all = || inside.load(Ordering::SeqCst) == 5;
                compute_until("each worker runs one", all);
            });
        }
    });
}

/// Changes of the size coincide with the shutdown: no fiber is left behind.
// Proves: E15.
#[test]
fn resizing_and_ending() {
    for size in [1, 2, 8] {
        for round in 0..scaled(50) {
            let runtime = workers(4).build().unwrap();
            let ran = Arc::new(AtomicUsize::new(0));
            for _ in 0..20 {
                let ran = Arc::clone(&ran);
                runtime.spawn(move || {
                    pirn::yield_now();
                    ran.fetch_add(1, Ordering::SeqCst);
                });
            }
            runtime.set_workers(NonZeroUsize::new(size).unwrap());
            if round % 2 == 0 {
                drop(runtime);
                assert_eq!(ran.load(Ordering::SeqCst), 20);
            } else {
                runtime.shutdown(Duration::from_secs(60)).unwrap();
            }
        }
    }
}
