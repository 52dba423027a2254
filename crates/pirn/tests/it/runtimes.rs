//! Runtimes: any number, of any shape, side by side; each ends when it is shut down.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::runtime::{Builder, Handle, Scheduler, Spread};
use pirn::{JoinHandle, Runtime, channel};

use crate::executor_kind::{alone, runtime};
use crate::util::{Drops, SCHEDULERS, apart, mappings, on_every_shape, scaled, shaped};

/// Two runtimes exchange 100,000 messages; when one has ended the other keeps running.
// Proves: A5, F10.
#[test]
fn two_runtimes_exchange_messages() {
    let n = scaled(100_000);
    for scheduler in SCHEDULERS {
        let (first, second) = (shaped(2, scheduler), shaped(1, scheduler));
        let (there, from_first) = channel::bounded(16);
        let (back, from_second) = channel::bounded(0);
        let echo = second.spawn(move || {
            from_first
                .iter()
                .for_each(|value: usize| back.send(value + 1).unwrap());
        });
        let asking = first.spawn(move || {
            let receiver = pirn::spawn(move || from_second.iter().take(n).sum::<usize>());
            (0..n).for_each(|i| there.send(i).unwrap());
            receiver.join().unwrap()
        });
        assert_eq!(asking.join().unwrap(), n * (n + 1) / 2);
        echo.join().unwrap();
        drop(first);
        assert_eq!(second.run(|| pirn::spawn(|| 1).join().unwrap()), 1);
    }
}

/// A5. Work may be passed in both directions: a fiber of one runtime runs closures on the other,
/// which parks the fiber and not its worker.
#[test]
fn a_fiber_runs_closures_on_another_runtime() {
    let (first, second) = (runtime(1), runtime(1));
    let other = second.handle();
    first.run(|| {
        let ticks = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let (there, home) = pirn::scope(|s| {
            s.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    ticks.fetch_add(1, Ordering::SeqCst);
                    pirn::yield_now();
                }
            });
            let home = std::thread::current().id();
            let there = other.run(|| {
                pirn::sleep(Duration::from_millis(5)).unwrap();
                std::thread::current().id()
            });
            assert_eq!(std::thread::current().id(), home);
            stop.store(true, Ordering::SeqCst);
            (there, home)
        });
        assert_ne!(there, home);
        assert!(ticks.into_inner() > 1, "the sibling stood still");
    });
}

/// Every number of workers works, also many more than there are cores, and all of them run fibers
/// if there are enough.
#[test]
fn any_number_of_workers() {
    for workers in [1, 2, 4, 8, 96] {
        for scheduler in SCHEDULERS {
            // Otherwise these fibers' line would soon have a history of holding its threads, and a
            // standby worker could take one of them while the members' threads start.
            let builder = Runtime::builder().workers(workers).scheduler(scheduler);
            let builder = builder.spread(Spread::Never).max_threads(workers);
            let runtime = builder.build().unwrap();
            assert_eq!(runtime.metrics().workers.len(), workers);
            let arrived = AtomicUsize::new(0);
            let arrived = &arrived;
            // Each fiber keeps its thread until all have arrived.
            runtime.scope(|s| {
                for _ in 0..workers {
                    s.spawn(move || {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        crate::util::eventually("every worker has a fiber", || {
                            arrived.load(Ordering::SeqCst) == workers
                        });
                    });
                }
            });
            let metrics = runtime.metrics();
            assert!(
                metrics
                    .workers
                    .iter()
                    .all(|worker| worker.counters.started == 1)
            );
        }
    }
}

/// Hundreds of workers on few cores: nothing is lost, no fiber stalls.
// Proves: C6.
#[test]
fn many_more_workers_than_cores() {
    for workers in [96, 256] {
        for scheduler in SCHEDULERS {
            let runtime = shaped(workers, scheduler);
            let ran = Arc::new(AtomicUsize::new(0));
            let n = scaled(20_000);
            let parents: Vec<_> = (0..n / 100)
                .map(|_| {
                    let ran = Arc::clone(&ran);
                    runtime.spawn(move || {
                        let children: Vec<_> = (0..99)
                            .map(|_| {
                                let ran = Arc::clone(&ran);
                                pirn::spawn(move || {
                                    pirn::yield_now();
                                    ran.fetch_add(1, Ordering::Relaxed);
                                })
                            })
                            .collect();
                        children.into_iter().for_each(|child| child.join().unwrap());
                        ran.fetch_add(1, Ordering::Relaxed);
                    })
                })
                .collect();
            parents
                .into_iter()
                .for_each(|parent| parent.join().unwrap());
            assert_eq!(ran.load(Ordering::Relaxed), n / 100 * 100);
            assert_eq!(runtime.metrics().total.rescues, 0);
        }
    }
}

/// The current runtime is the fiber's; otherwise the one entered last; otherwise the default.
#[test]
fn the_current_runtime() {
    let outer = Runtime::builder().name("outer").workers(1).build().unwrap();
    let inner = Runtime::builder().name("inner").workers(1).build().unwrap();
    let name = || {
        let thread = pirn::run(|| std::thread::current().name().unwrap().to_owned());
        thread.split('-').next().unwrap().to_owned()
    };
    outer.enter(|| {
        assert_eq!(name(), "outer");
        inner.enter(|| assert_eq!(name(), "inner"));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            inner.enter(|| panic!("on purpose"));
        }));
        assert!(unwound.is_err());
        assert_eq!(name(), "outer", "a panic leaves what was entered");
    });
    // A fiber's own runtime takes precedence over any that its thread, or it, has entered.
    assert_eq!(outer.run(|| inner.enter(name)), "outer");
    assert!(Handle::try_current().is_none());
}

/// Thread hooks run once for each worker that was started, around all its fibers.
#[test]
fn hooks_run_on_every_worker() {
    let (started, stopped) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (on_start, on_stop) = (Arc::clone(&started), Arc::clone(&stopped));
    let runtime = Runtime::builder()
        .workers(3)
        // No standby workers, however slow the machine is.
        .max_threads(3)
        .on_thread_start(move || _ = on_start.fetch_add(1, Ordering::SeqCst))
        .on_thread_stop(move || _ = on_stop.fetch_add(1, Ordering::SeqCst))
        .build()
        .unwrap();
    runtime.run(|| assert!(started.load(Ordering::SeqCst) >= 1));
    let all: Vec<JoinHandle<()>> =
        (0..500).map(|_| runtime.spawn(pirn::yield_now)).collect();
    all.into_iter().for_each(|fiber| fiber.join().unwrap());
    drop(runtime);
    let started = started.load(Ordering::SeqCst);
    assert!((1..=3).contains(&started));
    assert_eq!(stopped.load(Ordering::SeqCst), started);
}

/// Dropping a runtime waits for all its fibers, including those that they spawn meanwhile.
// Proves: H-8, O13.
#[test]
fn dropping_a_runtime_waits_for_its_fibers() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            for _ in 0..20 {
                let ended = Arc::new(AtomicUsize::new(0));
                let runtime = shaped(workers, scheduler);
                for _ in 0..10 {
                    let ended = Arc::clone(&ended);
                    runtime.spawn(move || {
                        for _ in 0..3 {
                            let ended = Arc::clone(&ended);
                            pirn::spawn(move || {
                                pirn::spawn::park_timeout(Duration::from_micros(100));
                                ended.fetch_add(1, Ordering::SeqCst);
                            });
                        }
                        pirn::yield_now();
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                }
                drop(runtime);
                assert_eq!(ended.load(Ordering::SeqCst), 40);
            }
        }
    }
}

/// A dropped runtime waits for the fibers that wait for it to be idle, too.
#[test]
fn dropping_a_runtime_waits_for_waiters_for_idleness() {
    for _ in 0..5 {
        let runtime = runtime(2);
        let ended = Arc::new(AtomicBool::new(false));
        let (flag, handle) = (Arc::clone(&ended), runtime.handle());
        let (tx, rx) = channel::bounded(1);
        // It keeps the other from returning before the drop waits, too.
        runtime.spawn(|| pirn::sleep(Duration::from_millis(5)));
        runtime.spawn(move || {
            tx.send(()).unwrap();
            handle.wait_idle().unwrap();
            // Longer than the end of a runtime with remaining fibers takes.
            pirn::spawn::park_timeout(Duration::from_millis(100));
            flag.store(true, Ordering::SeqCst);
        });
        rx.recv().unwrap();
        drop(runtime);
        assert!(ended.load(Ordering::SeqCst));
    }
}

/// H-8. Several fibers may wait for idleness; they do not wait for each other.
#[test]
fn waiters_for_idleness_do_not_wait_for_each_other() {
    on_every_shape(|runtime| {
        let handle = runtime.handle();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let handle = handle.clone();
                runtime.spawn(move || handle.wait_idle())
            })
            .collect();
        let busy = runtime.spawn(|| pirn::sleep(Duration::from_millis(2)).unwrap());
        busy.join().unwrap();
        waiting
            .into_iter()
            .for_each(|fiber| fiber.join().unwrap().unwrap());
        runtime.wait_idle().unwrap();
    });
}

/// Spawns from threads race with the end of the runtime: each is rejected or runs to its end,
/// and the runtime ends.
// Proves: A9.
#[test]
fn spawns_race_with_the_end() {
    for round in 0..scaled(300) {
        let drops = Drops::default();
        let runtime = runtime(1 + round % 3);
        let handle = runtime.handle();
        let sent = AtomicUsize::new(0);
        let ran = Arc::new(AtomicUsize::new(0));
        let joined = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    let mut fibers = Vec::new();
                    for _ in 0..200 {
                        let (capture, ran) = (drops.one(), Arc::clone(&ran));
                        sent.fetch_add(1, Ordering::SeqCst);
                        let fiber = handle.spawn(move || {
                            ran.fetch_add(1, Ordering::SeqCst);
                            drop(capture);
                        });
                        let ended = fiber.is_finished();
                        fibers.push(fiber);
                        if ended {
                            break;
                        }
                    }
                    let done = fibers.into_iter().filter_map(|fiber| fiber.join().ok());
                    joined.fetch_add(done.count(), Ordering::SeqCst);
                });
            }
            drop(runtime);
        });
        assert_eq!(drops.count(), sent.into_inner());
        // Those that were joined as completed have run, and no others.
        assert_eq!(joined.into_inner(), ran.load(Ordering::SeqCst));
    }
}

/// Rejected spawns do not keep a runtime from detecting that it is empty.
#[test]
fn refusals_do_not_hold_up_the_end() {
    for _ in 0..scaled(100) {
        let runtime = runtime(1);
        let handle = runtime.handle();
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    while !over.load(Ordering::SeqCst) {
                        handle.spawn(|| ()).detach();
                    }
                });
            }
            drop(runtime);
            over.store(true, Ordering::SeqCst);
        });
    }
}

/// The memory of a runtime is released with it.
#[test]
fn runtimes_leave_no_mappings_behind() {
    let part = || {
        let one = || {
            let runtime = runtime(2);
            let all: Vec<_> = (0..50).map(|_| runtime.spawn(pirn::yield_now)).collect();
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
        };
        (0..5).for_each(|_| one());
        // A leak shows in both halves. The allocator, or a sanitizer, may map some more in one of them.
        let grown = [(); 2].map(|()| {
            let before = mappings();
            (0..25).for_each(|_| one());
            mappings().saturating_sub(before)
        });
        assert!(
            grown.iter().any(|&more| more < 10),
            "25 runtimes left {grown:?} mappings, twice"
        );
    };
    if let Some(ended) = apart("runtimes::runtimes_leave_no_mappings_behind", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// `runtime::test` gives a test a runtime of its own and waits for its remaining fibers.
#[test]
fn a_runtime_for_a_test() {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    let result = pirn::runtime::test(|handle| {
        handle.spawn(move || {
            pirn::yield_now();
            flag.store(true, Ordering::SeqCst);
        });
        6
    });
    assert_eq!(result, 6);
    assert!(ended.load(Ordering::SeqCst));
    let raised = catch_unwind(|| {
        pirn::runtime::test(|_| panic!("on purpose"));
    });
    assert!(raised.is_err());
}

/// Metrics count events, by worker and in total, and print one line each.
#[test]
fn metrics_count() {
    let runtime = Runtime::builder()
        .workers(2)
        .scheduler(Scheduler::WorkStealing);
    let runtime = runtime.build().unwrap();
    runtime.run(|| (0..10).for_each(|_| pirn::spawn(pirn::yield_now).join().unwrap()));
    runtime.wait_idle().unwrap();
    let metrics = runtime.metrics();
    assert_eq!((metrics.total.spawned, metrics.total.completed), (11, 11));
    assert!(metrics.total.dispatched >= 21);
    let started: u64 = metrics
        .workers
        .iter()
        .map(|worker| worker.counters.started)
        .sum();
    assert_eq!(started, 11);
    let text = metrics.to_string();
    for name in [
        "spawned",
        "dispatched",
        "stolen",
        "parks",
        "rescues",
        "waiting_for_stack",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(name)),
            "no {name} in:\n{text}"
        );
    }
}

/// An invalid value is an error, not adjusted.
#[test]
fn unusable_values_are_refused_by_name() {
    let refused = |builder: Builder, name: &str| {
        let error = builder.build().expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(
            error.to_string().contains(name),
            "{error} does not name {name}"
        );
    };
    refused(Runtime::builder().workers(100_000), "workers");
    refused(Runtime::builder().stack_size(1), "stack_size");
    refused(Runtime::builder().stack_size(usize::MAX), "stack_size");
}

/// A runtime that is dropped by one of its own fibers cancels the others and ends.
#[test]
fn a_runtime_dropped_by_its_own_fiber() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let (tx, rx) = channel::bounded(1);
    let parked = handle.spawn(pirn::spawn::park_interruptible);
    handle.spawn(move || {
        drop(runtime);
        // This fiber is cancelled too, so it must not wait.
        tx.try_send(()).unwrap();
    });
    rx.recv().unwrap();
    // Interrupted, or, if no worker had started it, never run.
    assert!(!parked.join().is_ok_and(|end| end.is_ok()));
    let late = handle.spawn(|| ());
    assert!(late.join().is_err());
}

/// A runtime may end inside a fiber of another one.
#[test]
fn a_runtime_ends_inside_another() {
    let ended = Arc::new(AtomicUsize::new(0));
    alone(|| {
        for _ in 0..10 {
            let inner = runtime(1);
            let ended = Arc::clone(&ended);
            inner.spawn(move || {
                pirn::sleep(Duration::from_millis(1)).unwrap();
                ended.fetch_add(1, Ordering::SeqCst);
            });
            drop(inner);
        }
    });
    assert_eq!(ended.load(Ordering::SeqCst), 10);
}

/// A panic that drops a runtime cancels its fibers, also if another fiber of the thread unwound while
/// the runtime was made.
// Proves: O13.
#[test]
fn a_panic_ends_a_runtime_made_beside_another_panic() {
    struct Gate(channel::Receiver<()>);
    impl Drop for Gate {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    let outer = Runtime::builder().workers(1).max_threads(1).build();
    outer.unwrap().run(|| {
        let (tx, rx) = channel::bounded::<()>(1);
        let first = pirn::spawn(move || {
            let _gate = Gate(rx);
            panic_any("first");
        });
        // It leaves its stack amid its panic.
        pirn::yield_now();
        let second = catch_unwind(AssertUnwindSafe(|| {
            let inner = Runtime::builder().workers(1).build().unwrap();
            inner.spawn(pirn::spawn::park_interruptible).detach();
            tx.send(()).unwrap();
            assert!(first.join().is_err());
            panic_any("second");
        }));
        assert!(second.is_err());
    });
}

/// A runtime that is dropped inside a poll does not wait, and its workers end. A shutdown there
/// panics before it cancels anything.
// Proves: A9.
#[test]
fn a_runtime_may_end_inside_a_poll() {
    let (stopped, stops) = channel::unbounded();
    let build = || {
        let stopped = stopped.clone();
        let builder = Runtime::builder().workers(1);
        let builder = builder.on_thread_stop(move || stopped.send(()).unwrap());
        builder.build().unwrap()
    };
    let seven = pirn::run(|| {
        pirn::future::wait(async {
            let own = build();
            own.spawn(|| 7).await.unwrap()
        })
    });
    assert_eq!(seven, Ok(7));
    stops.recv().unwrap();
    pirn::run(|| {
        let own = build();
        // Nothing interrupts it.
        let fiber = own.spawn(pirn::park);
        let refused = pirn::future::wait(async {
            let shutdown = AssertUnwindSafe(|| own.shutdown(Duration::ZERO).is_ok());
            catch_unwind(shutdown).is_err()
        });
        assert_eq!(refused, Ok(true));
        fiber.fiber().unpark();
        fiber.join().unwrap();
    });
    stops.recv().unwrap();
}

/// A runtime without workers may end inside a poll, with or without fibers.
#[test]
fn a_runtime_by_hand_may_end_inside_a_poll() {
    let ended = Arc::new(AtomicBool::new(false));
    for has_fiber in [false, true] {
        let flag = Arc::clone(&ended);
        let seven = runtime(1).run(|| {
            pirn::future::wait(async {
                let own = Runtime::builder().workers(0).build().unwrap();
                if has_fiber {
                    own.spawn(move || flag.store(true, Ordering::SeqCst))
                        .detach();
                }
                drop(own);
                7
            })
        });
        assert_eq!(seven, Ok(7));
    }
    crate::util::eventually("its fiber has run", || ended.load(Ordering::SeqCst));
}

/// The stop hook of a worker may drop the runtime, which waits for all threads but this one.
#[test]
fn a_stop_hook_may_drop_its_runtime() {
    static KEPT: std::sync::Mutex<Option<Runtime>> = std::sync::Mutex::new(None);
    static DROPPED: AtomicBool = AtomicBool::new(false);
    let hook = || {
        let kept = KEPT.lock().unwrap().take();
        if let Some(own) = kept {
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(own)));
            DROPPED.store(dropped.is_ok(), Ordering::SeqCst);
        }
    };
    let builder = Runtime::builder().workers(2).prewarm(0);
    let runtime = builder.on_thread_stop(hook).build().unwrap();
    let handle = runtime.handle();
    // Both workers have a thread.
    let all: Vec<_> = (0..100).map(|_| handle.spawn(pirn::yield_now)).collect();
    all.into_iter().for_each(|fiber| fiber.join().unwrap());
    *KEPT.lock().unwrap() = Some(runtime);
    handle.set_workers(std::num::NonZero::<usize>::MIN);
    crate::util::eventually("it has been dropped", || DROPPED.load(Ordering::SeqCst));
}
