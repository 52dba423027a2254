//! Spawning: each spawned closure runs exactly once, with its captures, on the right runtime, in an
//! order without starvation.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn::Runtime;
use pirn::spawn::{Builder, JoinError, Rejected};
use pirn::time::now;

use crate::executor_kind::runtime;
use crate::util::{
    Drops, LONG, apart, compute_until, eventually, on_every_shape, resident, scaled,
    watched,
};

/// Plain functions suffice.
// Proves: A4.
#[test]
fn plain_code_is_enough() {
    fn fib(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let left = pirn::spawn(move || fib(n - 1));
        let right = fib(n - 2);
        left.join().unwrap() + right
    }
    assert_eq!(pirn::run(|| fib(12)), 144);
}

/// The same call spawns computing and waiting fibers. On one thread they wait at the same time: a
/// wait does not hold the thread.
// Proves: A1.
#[test]
fn one_spawn_computes_and_waits() {
    const WAITING: usize = 200;
    let builder = Runtime::builder().workers(1).max_threads(1);
    let runtime = builder.build().unwrap();
    let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    runtime.scope(|s| {
        let (begun, ended) = (&begun, &ended);
        let (tx, rx) = pirn::channel::bounded::<()>(0);
        for _ in 0..WAITING {
            let rx = rx.clone();
            s.spawn(move || {
                begun.fetch_add(1, Ordering::SeqCst);
                assert!(rx.recv().is_err(), "a value");
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        eventually("all wait", || begun.load(Ordering::SeqCst) == WAITING);
        let computing = (0..8_u64).map(|i| s.spawn(move || (0..200_000).fold(i, mix)));
        for (i, fiber) in (0..).zip(computing.collect::<Vec<_>>()) {
            assert_eq!(fiber.join().unwrap(), (0..200_000).fold(i, mix));
        }
        assert_eq!(ended.load(Ordering::SeqCst), 0, "waits that have ended");
        drop(tx);
    });
    assert_eq!(ended.into_inner(), WAITING);
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

/// No setting is needed: in a process with an empty environment the default runtime has a worker
/// for each processor, all of which run at once, and fibers compute, communicate, sleep and block.
// Proves: A2, E1.
#[test]
#[cfg_attr(
    pirn_tsan,
    ignore = "the options of ThreadSanitizer are in the environment"
)]
fn an_empty_environment_is_enough() {
    const PART: &str = "PIRN_TEST_PART";
    if std::env::var_os(PART).is_none() {
        let mut bare = Command::new(std::env::current_exe().unwrap());
        let name = "spawn::an_empty_environment_is_enough";
        let bare = bare.args(["--exact", name, "--nocapture"]).env_clear();
        let ended = watched(bare.env(PART, name));
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        return;
    }
    assert_eq!(std::env::vars_os().count(), 1);
    let cores = std::thread::available_parallelism().unwrap().get();
    let arrived = AtomicUsize::new(0);
    pirn::scope(|s| {
        for _ in 0..cores {
            s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let all = || arrived.load(Ordering::SeqCst) == cores;
                compute_until("one computes on each", all);
            });
        }
    });
    let (tx, rx) = pirn::channel::bounded(0);
    let all: Vec<_> = (0..1_000_u64)
        .map(|i| {
            let tx = tx.clone();
            pirn::spawn(move || {
                pirn::sleep(Duration::from_micros(i)).unwrap();
                tx.send(pirn::blocking(move || (0..100).fold(i, mix)))
                    .unwrap();
            })
        })
        .collect();
    drop(tx);
    let got: BTreeSet<u64> = pirn::run(|| rx.iter().collect());
    assert_eq!(got, (0..1_000).map(|i| (0..100).fold(i, mix)).collect());
    all.into_iter().for_each(|fiber| fiber.join().unwrap());
    let workers = pirn::runtime::Handle::current().workers();
    assert_eq!(workers, cores);
}

/// A fiber spawns on its own runtime, at any depth.
// Proves: A6.
#[test]
fn nested_spawns_need_no_handle() {
    let runtime = Runtime::builder().name("own").workers(2).build().unwrap();
    fn descend(depth: usize) {
        let thread = std::thread::current().name().unwrap().to_owned();
        assert!(
            thread.starts_with("own-"),
            "a fiber of `own` runs on {thread}"
        );
        if depth > 0 {
            pirn::spawn(move || descend(depth - 1)).join().unwrap();
        }
    }
    runtime.spawn(|| descend(20)).join().unwrap();
}

/// Every fiber runs, and none runs twice, on any number of workers, spawned by a fiber or
/// by a thread.
// Proves: B1, B16, P11, P11 (checked), Q2 (portable).
#[test]
fn every_fiber_runs_exactly_once() {
    let n = scaled(100_000);
    on_every_shape(|runtime| {
        let runs: Arc<[AtomicU8]> = (0..n).map(|_| AtomicU8::new(0)).collect();
        let run = |i: usize| {
            let runs = Arc::clone(&runs);
            move || {
                assert_eq!(runs[i].fetch_add(1, Ordering::Relaxed), 0, "{i} ran twice");
            }
        };
        let half = n / 2;
        let outside: Vec<_> = (half..n).map(|i| runtime.spawn(run(i))).collect();
        runtime.run(|| {
            let inside: Vec<_> = (0..half).map(|i| pirn::spawn(run(i))).collect();
            inside.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
        outside.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
        let total = runtime.metrics().total;
        assert_eq!(total.spawned, n as u64 + 1);
        assert_eq!(total.started, n as u64 + 1);
    });
}

/// Fibers beyond the capacity of a worker's own queue are not lost, and order is kept roughly:
/// the overflow moves in halves, not one by one to the end of the injector.
// Proves: B2.
#[test]
fn a_burst_overflows_without_loss() {
    const N: usize = 10_000;
    let runtime = runtime(1);
    let order = Arc::new(Mutex::new(Vec::with_capacity(N)));
    runtime.run(|| {
        let all: Vec<_> = (0..N)
            .map(|i| {
                let order = Arc::clone(&order);
                pirn::spawn(move || order.lock().unwrap().push(i))
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    let order = order.lock().unwrap();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..N));
    let overflows = runtime.metrics().total.overflows;
    assert!(
        (1..=(N / 64) as u64).contains(&overflows),
        "{overflows} moves for {N} fibers"
    );
}

/// The fiber spawned last runs next, and the one it displaced is queued behind the others.
// Proves: B4.
#[test]
fn the_last_spawned_runs_next() {
    let runtime = runtime(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    runtime.run(|| {
        let all: Vec<_> = ["first", "second", "third"]
            .into_iter()
            .map(|name| {
                let order = Arc::clone(&order);
                pirn::spawn(move || order.lock().unwrap().push(name))
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert_eq!(*order.lock().unwrap(), ["third", "first", "second"]);
}

/// Any number of fibers can be spawned from outside before a worker takes them.
// Proves: B8.
#[test]
fn a_burst_from_outside_neither_blocks_nor_gets_lost() {
    let n = scaled(100_000);
    let runtime = runtime(1);
    let spawned = Arc::new(AtomicBool::new(false));
    let busy = {
        let spawned = Arc::clone(&spawned);
        runtime.spawn(move || {
            compute_until("the burst is spawned", || spawned.load(Ordering::SeqCst));
        })
    };
    let ran = Arc::new(AtomicUsize::new(0));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let ran = Arc::clone(&ran);
            runtime.spawn(move || ran.fetch_add(1, Ordering::Relaxed))
        })
        .collect();
    assert_eq!(ran.load(Ordering::Relaxed), 0, "the only worker is busy");
    spawned.store(true, Ordering::SeqCst);
    busy.join().unwrap();
    all.into_iter()
        .for_each(|fiber| assert!(fiber.join().unwrap() < n));
    assert_eq!(ran.load(Ordering::Relaxed), n);
}

/// A fiber spawned from outside before others is not delayed by them, even if they never yield
/// until it has run.
// Proves: B13.
#[test]
fn spinning_observers_end() {
    for workers in [2, 4, 8] {
        for _ in 0..10 {
            let runtime = runtime(workers);
            let flag = Arc::new(AtomicBool::new(false));
            let target = {
                let flag = Arc::clone(&flag);
                runtime.spawn(move || flag.store(true, Ordering::SeqCst))
            };
            let observers: Vec<_> = (0..2 * workers)
                .map(|_| {
                    let flag = Arc::clone(&flag);
                    runtime.spawn(move || {
                        compute_until("the target runs", || flag.load(Ordering::SeqCst));
                    })
                })
                .collect();
            target.join().unwrap();
            observers
                .into_iter()
                .for_each(|fiber| fiber.join().unwrap());
        }
    }
}

/// A9. An ended runtime admits nothing: a spawn drops its closure, a builder returns it.
#[test]
fn a_runtime_that_ended_takes_nothing() {
    let drops = Drops::default();
    let handle = runtime(1).handle();
    let capture = drops.one();
    let fiber = handle.spawn(move || drop(capture));
    assert!(fiber.is_finished());
    assert!(matches!(fiber.join(), Err(JoinError::NotRun)));
    assert_eq!(drops.count(), 1);

    let capture = drops.one();
    let refused =
        handle.enter(|| Builder::new().name("late").spawn(move || drop(capture)));
    let refused = refused.expect_err("the runtime has ended");
    assert_eq!(refused.reason(), Rejected::ShutDown);
    assert_eq!(drops.count(), 1, "the closure is in the error");
    refused.into_inner()();
    assert_eq!(drops.count(), 2);
}

/// A fiber has the name that it was given, and a unique identity.
#[test]
fn names_and_identities() {
    runtime(2).run(|| {
        let named = Builder::new().name("cartographer").spawn(|| {
            assert_eq!(pirn::current().name(), Some("cartographer"));
            pirn::current().id()
        });
        let named = named.unwrap();
        assert_eq!(named.fiber().name(), Some("cartographer"));
        let id = named.fiber().id();
        assert_eq!(named.join().unwrap(), id);

        let unnamed =
            pirn::spawn(|| (pirn::current().name().is_none(), pirn::current().id()));
        let (nameless, other) = unnamed.join().unwrap();
        assert!(nameless);
        assert_ne!(id, other);
        assert_ne!(id, pirn::current().id());
    });
}

/// A plain thread has exactly one identity too, shared with no other thread.
#[test]
fn a_thread_has_an_identity() {
    let (first, second) = (pirn::current().id(), pirn::current().id());
    assert_eq!(first, second);
    let other = std::thread::spawn(|| pirn::current().id()).join().unwrap();
    assert_ne!(first, other);
}

/// C14: a fiber that has started stays on its thread
/// (docs/design/04-placement.md#started-fibers-stay-on-their-worker).
// Settled.
// Proves: F17.
#[cfg(not(pirn_free))]
#[test]
fn a_started_fiber_stays_on_its_thread() {
    let runtime = runtime(4);
    let fibers: Vec<_> = (0..64)
        .map(|i| {
            runtime.spawn(move || {
                let home = std::thread::current().id();
                for round in 0..200 {
                    match (i + round) % 3 {
                        0 => pirn::yield_now(),
                        1 => pirn::spawn(|| ()).join().unwrap(),
                        _ => pirn::spawn::park_timeout(Duration::from_micros(50)),
                    }
                    assert_eq!(std::thread::current().id(), home);
                }
            })
        })
        .collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// `spawn_unchecked` runs a borrowing closure, for a caller that keeps the promise.
#[test]
#[expect(
    unsafe_code,
    reason = "the promise is kept: the fiber is joined at once"
)]
fn spawn_unchecked_borrows() {
    let runtime = runtime(1);
    let mut value = 1;
    runtime.enter(|| {
        // SAFETY: `value` is not touched before the fiber has ended.
        let fiber = unsafe { Builder::new().spawn_unchecked(|| value += 1) };
        fiber.unwrap().join().unwrap();
    });
    assert_eq!(value, 2);
}

/// `run` calls the closure at once on a fiber, and waits for a fiber on a plain thread; either way
/// it returns the result of `f`.
#[test]
fn run_borrows_and_returns() {
    let runtime = runtime(1);
    let mut log = Vec::new();
    let outer = runtime.run(|| {
        log.push(1);
        let inner = pirn::run(|| {
            log.push(2);
            pirn::current().id()
        });
        assert_eq!(inner, pirn::current().id(), "on a fiber, the same fiber");
        "done"
    });
    assert_eq!((outer, log), ("done", vec![1, 2]));
}

/// The wait of a fiber that computes costs its siblings nothing but the time.
#[test]
fn blocking_the_only_worker_delays_but_loses_nothing() {
    let runtime = runtime(1);
    let busy = runtime.spawn(|| std::thread::sleep(Duration::from_millis(50)));
    let start = now();
    let late: Vec<_> = (0..10).map(|i| runtime.spawn(move || i)).collect();
    let sum: i32 = late.into_iter().map(|fiber| fiber.join().unwrap()).sum();
    assert_eq!(sum, 45);
    assert!(now() - start < LONG);
    busy.join().unwrap();
}

/// The memory of ended fibers is reused, also if it is released by threads that never start any.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
#[test]
fn threads_that_only_let_go_keep_nothing() {
    let part = || {
        let runtime = runtime(1);
        let round = || {
            let ended: Vec<_> = (0..60).map(|_| runtime.spawn(|| ())).collect();
            runtime.wait_idle().unwrap();
            std::thread::spawn(move || drop(ended)).join().unwrap();
        };
        (0..100).for_each(|_| round());
        let before = resident();
        (0..700).for_each(|_| round());
        let grown = resident().saturating_sub(before);
        assert!(grown < 4 << 20, "{grown} bytes more");
    };
    if let Some(ended) = apart("spawn::threads_that_only_let_go_keep_nothing", &[], part)
    {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}
