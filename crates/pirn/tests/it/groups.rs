//! Groups: fibers that belong to a value.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{hint, iter, thread};

use pirn::Runtime;
use pirn::cancel::{Token, check, shield};
use pirn::channel::bounded;
use pirn::scope::TaskGroup;
use pirn::spawn::{JoinError, Rejected};
use pirn::time::{sleep, timeout};

use crate::executor_kind::{alone, runtime};
use crate::util::{Drops, LONG, eventually, on_every_shape, scaled};

/// A group yields results in the order of the ends, counts its fibers, and can be reused.
// Proves: O2.
#[test]
fn a_group_yields_results_and_goes_on() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let group = TaskGroup::new();
            for round in 0..3 {
                for n in 0..10_u64 {
                    group.spawn(move || n + 100 * round).unwrap();
                }
                group.wait().unwrap();
                assert!(group.is_empty());
                let mut results = Vec::new();
                while let Some(result) = group.join_next().unwrap() {
                    results.push(result.unwrap());
                }
                results.sort_unstable();
                let expected: Vec<u64> = (0..10).map(|n| n + 100 * round).collect();
                assert_eq!(results, expected);
            }
            group.spawn(|| panic_any("member")).unwrap();
            let panicked = group.join_next().unwrap().unwrap();
            assert!(matches!(panicked, Err(JoinError::Panicked(_))));
            assert!(group.join_next().unwrap().is_none());
        });
    });
}

/// Results are yielded in the order in which the fibers end.
#[test]
fn a_group_yields_in_the_order_of_the_ends() {
    pirn::runtime::test(|handle| {
        handle.run(|| {
            let group = TaskGroup::new();
            for n in [30, 10, 20] {
                let job = move || {
                    sleep(Duration::from_millis(n)).unwrap();
                    n
                };
                group.spawn(job).unwrap();
            }
            let mut order = Vec::new();
            while let Some(ended) = group.join_next().unwrap() {
                order.push(ended.unwrap());
            }
            assert_eq!(order, [10, 20, 30]);
            let held = timeout(Duration::from_millis(5), || {
                group.spawn(|| sleep(LONG).map_or(0, |()| 1)).unwrap();
                group.join_next().map(drop)
            });
            assert!(held.is_err());
            assert_eq!(group.wait_timeout(Duration::from_millis(5)), Ok(false));
            group.cancel();
            assert_eq!(group.wait_timeout(LONG), Ok(true));
        });
    });
}

/// Runs `body` as the first fiber of a runtime with one thread, which no standby worker replaces.
fn on_one_thread<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let builder = Runtime::builder().workers(1).max_threads(1);
    builder.build().unwrap().run(body)
}

/// Each end wakes a waiter at once, though other fibers are alive. After the last end no waiter is
/// left.
fn ends_come_one_by_one<T: Copy + Send + 'static>(result: T) {
    alone(move || {
        let group = Arc::new(TaskGroup::<T>::new());
        let next = move |group: &TaskGroup<T>| {
            let next = timeout(LONG, || group.join_next()).expect("it is woken");
            next.expect("nothing is cancelled").is_some()
        };
        let (tx, rx) = bounded::<()>(0);
        group.spawn(move || result).unwrap();
        let held = move || {
            let _ = rx.recv();
            result
        };
        group.spawn(held).unwrap();
        assert!(next(&group));
        assert_eq!(group.len(), 1);
        let waiters = [(); 2].map(|()| {
            let group = Arc::clone(&group);
            pirn::spawn(move || next(&group))
        });
        pirn::yield_now();
        drop(tx);
        let mut ended = waiters.map(|waiter| waiter.join().unwrap());
        ended.sort_unstable();
        assert_eq!(ended, [false, true]);
    });
}

#[test]
fn ends_with_results_that_are_kept_come_one_by_one() {
    ends_come_one_by_one(7_u8);
}

#[test]
fn ends_with_results_that_are_counted_come_one_by_one() {
    ends_come_one_by_one(());
}

/// A wait for a group ends when its last fiber has ended, though other waiters spawn more of them
/// before this one runs.
#[test]
fn a_wait_for_a_group_ends_with_its_last_fiber() {
    on_one_thread(|| {
        let group = Arc::new(TaskGroup::new());
        let (tx, rx) = bounded::<()>(0);
        let (open, gate) = bounded::<()>(0);
        group.spawn(move || _ = rx.recv()).unwrap();
        let waits = Arc::clone(&group);
        let waiter = pirn::spawn(move || waits.wait());
        let spawners = [(); 2].map(|()| {
            let (group, gate) = (Arc::clone(&group), gate.clone());
            pirn::spawn(move || {
                let next = group.join_next().unwrap();
                group.spawn(move || _ = gate.recv()).unwrap();
                assert!(next.is_none_or(|ended| ended.is_ok()));
            })
        });
        // All wait, also the first fiber of the group.
        (0..5).for_each(|_| pirn::yield_now());
        drop(tx);
        assert!(matches!(waiter.join_timeout(LONG), Ok(Ok(Ok(())))));
        drop(open);
        spawners
            .into_iter()
            .for_each(|spawner| spawner.join().unwrap());
    });
}

/// A fiber that was cancelled before it ran has no result, though all results of its type are the
/// same.
#[test]
fn a_fiber_that_did_not_run_is_not_counted() {
    let ended: Vec<_> = on_one_thread(|| {
        let group = TaskGroup::new();
        group.spawn(|| ()).unwrap();
        group.wait().unwrap();
        // Not yet started: its worker runs this fiber.
        group.spawn(|| ()).unwrap();
        group.cancel();
        iter::from_fn(|| group.join_next().unwrap()).collect()
    });
    let ran = ended.iter().filter(|ended| ended.is_ok()).count();
    let not_run =
        |ended: &&Result<(), JoinError>| matches!(ended, Err(JoinError::NotRun));
    assert_eq!((ran, ended.iter().filter(not_run).count()), (1, 1));
}

/// A spawn that a runtime rejects leaves nothing behind: the group's results are dropped with it.
#[test]
fn a_rejected_spawn_keeps_nothing() {
    let drops = Drops::default();
    let runtime = runtime(1);
    let handle = runtime.handle();
    let group = TaskGroup::new();
    let result = drops.one();
    handle.enter(|| group.spawn(move || result)).unwrap();
    group.wait().unwrap();
    runtime.shutdown(LONG).unwrap();
    let result = drops.one();
    let rejected = handle.enter(|| group.spawn(move || result)).unwrap_err();
    assert_eq!(rejected.reason(), Rejected::ShutDown);
    drop(rejected);
    assert_eq!(drops.count(), 1);
    drop(group);
    assert_eq!(drops.count(), 2);
}

/// A group with a limit never has more fibers alive; a spawn beyond it waits, and can be
/// interrupted.
// Proves: O2.
#[test]
fn a_group_keeps_its_limit() {
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        let (alive, most) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        runtime.run(|| {
            let group = TaskGroup::new().limit(3);
            for _ in 0..scaled(300) {
                let (alive, most) = (Arc::clone(&alive), Arc::clone(&most));
                let job = move || {
                    let now = alive.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    pirn::yield_now();
                    alive.fetch_sub(1, Ordering::SeqCst);
                };
                group.spawn(job).unwrap();
            }
            group.wait().unwrap();
            assert!(most.load(Ordering::SeqCst) <= 3);
            let blocked = TaskGroup::new().limit(1);
            blocked.spawn(|| sleep(LONG).unwrap_or(())).unwrap();
            let refused = timeout(Duration::from_millis(2), || {
                blocked.spawn(|| ()).unwrap_err().reason()
            });
            assert!(refused.is_err());
        });
    }
}

/// Dropping a group cancels it without waiting; its captures and results are dropped, once.
// Proves: O2.
#[test]
fn a_dropped_group_leaves_nothing() {
    on_every_shape(|runtime| {
        let (captures, results) = (Drops::default(), Drops::default());
        let n = scaled(100);
        runtime.run(|| {
            let group = TaskGroup::new();
            for i in 0..n {
                let (capture, result) = (captures.one(), results.one());
                let job = move || {
                    let _capture = capture;
                    if i % 2 == 0 {
                        let _ = sleep(LONG);
                    }
                    result
                };
                group.spawn(job).unwrap();
            }
            for _ in 0..n / 4 {
                pirn::yield_now();
            }
            drop(group);
            runtime.wait_idle().unwrap();
        });
        assert_eq!(captures.count(), n);
        eventually("all results are dropped", || results.count() == n);
    });
}

/// Destructors of unclaimed results may wait, spawn and be interrupted, also on the last fiber of
/// their group.
#[test]
fn results_that_wait_where_they_are_dropped() {
    struct Waits(Arc<AtomicUsize>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let (tx, rx) = bounded(1);
            let sender = pirn::spawn(move || tx.send(7));
            let _ = shield(|| rx.recv()).unwrap();
            let _ = sender.join();
            pirn::scope(|s| drop(s.spawn(check)));
            let _ = timeout(Duration::from_millis(1), check);
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for workers in [1, 2, 4, 8] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let n = scaled(60);
        let runtime = runtime(workers);
        runtime.run(|| {
            for _ in 0..n {
                let group = TaskGroup::new();
                for _ in 0..3 {
                    let dropped = Arc::clone(&dropped);
                    let job = move || {
                        let _ = check();
                        pirn::yield_now();
                        Waits(dropped)
                    };
                    group.spawn(job).unwrap();
                }
                pirn::yield_now();
                drop(group);
            }
        });
        runtime.wait_idle().unwrap();
        let started = dropped.load(Ordering::SeqCst);
        assert!(started <= 3 * n && (started > 0 || n < 8), "{started}");
    }
}

/// A cancelled group admits no fiber, and reports that.
// Proves: K4.
#[test]
fn a_cancelled_group_refuses() {
    alone(|| {
        let parent = Token::new();
        let group = TaskGroup::<u8>::under(&parent);
        parent.cancel();
        let refused = group.spawn(|| 5).unwrap_err();
        assert_eq!(refused.reason(), Rejected::Cancelled);
        assert_eq!(refused.into_inner()(), 5);
        assert!(group.token().is_cancelled());
    });
}

/// A group of fibers without results keeps nothing: memory stays flat without a join.
// Proves: K10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_group_of_units_keeps_nothing() {
    let runtime = runtime(2);
    runtime.run(|| {
        let group = TaskGroup::new().limit(100);
        for _ in 0..1_000 {
            group.spawn(|| ()).unwrap();
        }
        group.wait().unwrap();
        let before = crate::util::resident();
        let n = scaled(300_000);
        for _ in 0..n {
            group.spawn(|| ()).unwrap();
        }
        group.wait().unwrap();
        let grown = crate::util::resident().saturating_sub(before);
        assert!(grown < 8 << 20, "{grown} bytes more");
        let mut ended = 0;
        while let Some(result) = group.join_next().unwrap() {
            result.unwrap();
            ended += 1;
        }
        assert_eq!(ended, n + 1_000);
    });
}

/// A wait for a group that has got a new fiber ends with that one, not with the wakes of an earlier
/// end.
// Proves: O2.
#[test]
fn a_wait_is_not_ended_by_an_earlier_end() {
    let runtime = runtime(1);
    let group = Arc::new(TaskGroup::<()>::new());
    let over = Arc::new(AtomicBool::new(false));
    // It sleeps, and its wake keeps the fiber that ends busy.
    let reaper = {
        let (group, over) = (Arc::clone(&group), Arc::clone(&over));
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let _ = group.join_next();
            }
        })
    };
    runtime.enter(|| {
        for round in 0..scaled(2_000) {
            group
                .spawn(|| sleep(Duration::from_micros(300)).unwrap())
                .unwrap();
            while !group.is_empty() {
                hint::spin_loop();
            }
            let done = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&done);
            let last = move || {
                sleep(Duration::from_millis(1)).unwrap();
                ends.store(true, Ordering::SeqCst);
            };
            group.spawn(last).unwrap();
            group.wait().unwrap();
            assert!(done.load(Ordering::SeqCst), "round {round}: a fiber lives");
        }
    });
    over.store(true, Ordering::SeqCst);
    reaper.join().unwrap();
}

/// The tokens of a group's fibers are cancelled with their runtime, those of scopes inside too, and
/// not with another runtime of the same group.
// Proves: K7.
#[test]
fn a_group_is_under_the_tokens_of_its_runtimes() {
    let group = Arc::new(TaskGroup::new());
    let runtimes = [runtime(1), runtime(2)];
    let calls = Arc::new(AtomicUsize::new(0));
    let begun = Arc::new(AtomicUsize::new(0));
    for runtime in &runtimes {
        let (group, calls, begun) =
            (Arc::clone(&group), Arc::clone(&calls), Arc::clone(&begun));
        let spawner = Arc::clone(&group);
        runtime.run(|| {
            let wait = move || {
                let own = Token::current();
                assert!(own == Token::current() && own != *group.token());
                let called = Arc::new(AtomicUsize::new(0));
                let count = || {
                    let (calls, called) = (Arc::clone(&calls), Arc::clone(&called));
                    move || {
                        calls.fetch_add(1, Ordering::SeqCst);
                        called.fetch_add(1, Ordering::SeqCst);
                    }
                };
                let _outer = own.on_cancel(count());
                pirn::scope(|_| {
                    let _inner = Token::current().on_cancel(count());
                    begun.fetch_add(1, Ordering::SeqCst);
                    Token::current().wait();
                    // A cancel wakes its waiters before it calls: this fiber may run between them,
                    // and the end of a registration takes its callback back.
                    while called.load(Ordering::SeqCst) < 2 {
                        pirn::yield_now();
                    }
                });
                assert!(own.is_cancelled());
            };
            spawner.spawn(wait).unwrap();
        });
    }
    eventually("both wait", || begun.load(Ordering::SeqCst) == 2);
    let [first, second] = runtimes;
    first.shutdown(LONG / 4).expect("its fiber ends");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(!group.token().is_cancelled());
    assert!(second.run(check).is_ok());
    assert_eq!(group.len(), 1);
    group.cancel();
    second.run(|| group.wait()).unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    while let Some(end) = group.join_next().unwrap() {
        end.unwrap();
    }
}
