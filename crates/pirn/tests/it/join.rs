//! Joining: the result is available when the join returns, for any number of joiners, and waiting
//! costs nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel;
use pirn::spawn::JoinError;
use pirn::sync::WaitGroup;
use pirn::{Interrupt, JoinHandle, Runtime};

use crate::executor_kind::{ExecutorKind, Jobs, alone, runtime, until};
use crate::util::{Drops, LONG, apart, on_every_shape, processor_time, scaled, sleeps};

/// Many fibers wait for one handle; all see the end.
// Proves: H-1.
#[test]
fn many_fibers_wait_for_one() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let (tx, rx) = channel::bounded::<()>(0);
            let ended = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&ended);
            let awaited = Arc::new(pirn::spawn(move || {
                assert!(rx.recv().is_err());
                flag.store(true, Ordering::SeqCst);
                42
            }));
            let arrived = Arc::new(AtomicUsize::new(0));
            let waiting: Vec<_> = (0..10)
                .map(|_| {
                    let (awaited, ended) = (Arc::clone(&awaited), Arc::clone(&ended));
                    let arrived = Arc::clone(&arrived);
                    pirn::spawn(move || {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        awaited.wait().unwrap();
                        assert!(ended.load(Ordering::SeqCst));
                        assert!(awaited.is_finished());
                    })
                })
                .collect();
            until(&arrived, 10);
            drop(tx);
            waiting.into_iter().for_each(|fiber| fiber.join().unwrap());
            let handle = Arc::into_inner(awaited).expect("the others are done with it");
            assert_eq!(handle.join().unwrap(), 42);
        });
    });
}

/// Eight threads wait for one fiber while it ends, at every moment of its end.
// Proves: H-2.
#[test]
fn many_threads_wait_for_one() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        for round in 0..scaled(200) {
            let fiber = runtime.spawn(move || {
                (0..round % 7).for_each(|_| pirn::yield_now());
                round
            });
            std::thread::scope(|threads| {
                for _ in 0..8 {
                    threads.spawn(|| {
                        fiber.wait().unwrap();
                        assert!(fiber.is_finished());
                    });
                }
            });
            assert_eq!(fiber.join().unwrap(), round);
        }
    }
}

/// Fibers of two runtimes and threads wait for the same fiber.
// Proves: H-2.
#[test]
fn waiters_of_every_kind_at_once() {
    let (home, other) = (runtime(2), runtime(2));
    let (tx, rx) = channel::bounded::<()>(0);
    let awaited = Arc::new(home.spawn(move || assert!(rx.recv().is_err())));
    let arrived = AtomicUsize::new(0);
    let wait = || {
        arrived.fetch_add(1, Ordering::SeqCst);
        awaited.wait().unwrap();
    };
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(wait);
            threads.spawn(|| home.run(wait));
            threads.spawn(|| other.run(wait));
        }
        until(&arrived, 12);
        drop(tx);
    });
    assert!(awaited.is_finished());
}

/// When a join returns, everything that the fiber wrote is visible, its fiber-locals are
/// dropped, and none of its code is running.
// Proves: H-3.
#[test]
fn a_join_returns_after_everything() {
    pirn::fiber_local! {
        static LAST: std::cell::RefCell<Option<crate::util::Counted>> =
            std::cell::RefCell::new(None);
    }
    let n = scaled(2_000);
    on_every_shape(|runtime| {
        let drops = Drops::default();
        for i in 1..=n {
            let (local, capture) = (drops.one(), drops.one());
            let fiber = runtime.spawn(move || {
                LAST.with_borrow_mut(|last| *last = Some(local));
                drop(capture);
                Box::new(i)
            });
            assert_eq!(*fiber.join().unwrap(), i);
            assert_eq!(drops.count(), 2 * i);
        }
    });
}

/// A wait for a slow fiber uses no processor time, and no thread looks for its end meanwhile.
// Proves: H-4.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_joining_costs_no_processor_time() {
    let builder = Runtime::builder().workers(2).name("waits");
    let runtime = builder.build().unwrap();
    let awaited = runtime.spawn(|| pirn::sleep(Duration::from_secs(1)).unwrap());
    let before = processor_time();
    // The time of a thread that has ended does not count: all stay until it is read.
    let [ended, read] = [(); 2].map(|()| std::sync::Barrier::new(9));
    let stay = || {
        ended.wait();
        read.wait();
    };
    let (spent, slept) = std::thread::scope(|threads| {
        let start = |wait: fn(&Runtime, &JoinHandle<()>)| {
            let (runtime, awaited) = (&runtime, &awaited);
            let named = std::thread::Builder::new().name("waits-thread".to_owned());
            let waiting = move || {
                wait(runtime, awaited);
                stay();
            };
            named.spawn_scoped(threads, waiting).unwrap();
        };
        for _ in 0..4 {
            start(|_, awaited| awaited.wait().unwrap());
            start(|runtime, awaited| runtime.run(|| awaited.wait().unwrap()));
        }
        ended.wait();
        let used = (processor_time() - before, sleeps("waits"));
        read.wait();
        used
    });
    assert!(
        spent < Duration::from_millis(100),
        "{spent:?} for a second of waiting"
    );
    // Ten threads. One that looks each millisecond would go to sleep a thousand times.
    assert!(slept < 400, "{slept} sleeps in a second of waiting");
}

/// After `detach` or a drop the fiber keeps running; `is_finished` reports the end.
// Proves: H-5.
#[test]
fn a_dropped_handle_detaches() {
    alone(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let fiber = || {
            let ended = Arc::clone(&ended);
            pirn::spawn(move || {
                pirn::yield_now();
                ended.fetch_add(1, Ordering::SeqCst);
            })
        };
        fiber().detach();
        drop(fiber());
        let watched = fiber();
        assert!(!watched.is_finished());
        until(&ended, 3);
        watched.wait().unwrap();
        assert!(watched.is_finished());
        watched.join().unwrap();
    });
}

/// A fiber that is cancelled while it waits is interrupted; one that ended is not.
// Proves: F9, H-5.
#[test]
fn a_cancelled_fiber_is_interrupted() {
    alone(|| {
        let fiber = pirn::spawn(|| {
            let first = pirn::spawn::park_interruptible();
            let second = pirn::sleep(LONG);
            let third = pirn::spawn(|| ()).wait();
            (first, second, third)
        });
        pirn::yield_now();
        fiber.cancel();
        let cancelled = Err(Interrupt::Cancelled);
        let (first, second, third) = fiber.join().unwrap();
        assert_eq!((first, second), (cancelled, cancelled));
        // Sticky: it was cancelled before it began to wait for its own child.
        assert_eq!(third, cancelled);

        let ended = pirn::spawn(|| 1);
        ended.wait().unwrap();
        ended.cancel();
        assert_eq!(ended.join().unwrap(), 1);
    });
}

/// H-5. An interrupted join does not affect the other fiber; an interrupted wait keeps the handle.
#[test]
fn an_interrupted_join_lets_the_fiber_go_on() {
    alone(|| {
        let (tx, rx) = channel::bounded(1);
        let (go, gate) = channel::bounded::<()>(0);
        let joiner = pirn::spawn(move || {
            let child = pirn::spawn(move || {
                let _ = gate.recv();
                tx.send(7).unwrap();
            });
            assert_eq!(child.wait(), Err(Interrupt::Cancelled));
            assert!(!child.is_finished());
            let joined = child.join();
            assert!(matches!(
                joined,
                Err(JoinError::Interrupted(Interrupt::Cancelled))
            ));
        });
        pirn::yield_now();
        joiner.cancel();
        joiner.join().unwrap();
        drop(go);
        assert_eq!(rx.recv(), Ok(7));
    });
}

/// `wait` on a finished fiber returns `Ok`, even under an interrupt.
#[test]
fn waiting_for_a_finished_fiber_is_no_interruption_point() {
    alone(|| {
        let finished = pirn::spawn(|| 3);
        finished.wait().unwrap();
        let fiber = pirn::spawn(move || {
            let _ = pirn::spawn::park_interruptible();
            (finished.wait(), finished.join().unwrap())
        });
        pirn::yield_now();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), (Ok(()), 3));
    });
}

/// `join_timeout` returns the handle, and can be called again.
// Proves: H-5.
#[test]
fn a_join_with_a_limit_gives_the_handle_back() {
    for executor in [ExecutorKind::Fibers, ExecutorKind::Threads] {
        let other = runtime(1);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let (tx, rx) = channel::bounded::<()>(0);
            let fiber = other.spawn(move || rx.recv().is_err());
            let fiber = fiber.join_timeout(Duration::from_millis(5)).unwrap_err();
            let fiber = fiber.join_timeout(Duration::ZERO).unwrap_err();
            assert!(!fiber.is_finished());
            drop(tx);
            assert!(fiber.join_timeout(LONG).unwrap().unwrap());
        });
        jobs.run(executor, 1);
    }
}

/// Join timeouts and ends of fibers coincide at every moment, and nothing is lost.
#[test]
fn limits_and_ends_cross() {
    on_every_shape(|runtime| {
        for i in 0..scaled(500) {
            let nap = Duration::from_micros(i as u64 % 150);
            let fiber = runtime.spawn(move || {
                pirn::spawn::park_timeout(Duration::from_micros(70));
                i
            });
            let result = match fiber.join_timeout(nap) {
                Ok(result) => result,
                Err(fiber) => fiber.join(),
            };
            assert_eq!(result.unwrap(), i);
        }
    });
}

/// Joining the child that was spawned last runs it next, before all queued fibers.
// Proves: H-6.
#[test]
fn joining_the_newest_child_runs_it_next() {
    alone(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let crowd: Vec<_> = (0..50)
            .map(|_| {
                let ran = Arc::clone(&ran);
                pirn::spawn(move || ran.fetch_add(1, Ordering::SeqCst))
            })
            .collect();
        let before = ran.load(Ordering::SeqCst);
        let newest = {
            let ran = Arc::clone(&ran);
            pirn::spawn(move || ran.load(Ordering::SeqCst))
        };
        assert_eq!(newest.join().unwrap(), before, "others ran first");
        crowd
            .into_iter()
            .for_each(|fiber| assert!(fiber.join().unwrap() < 50));
    });
}

/// Each of a chain of fibers joins the next; the end propagates back without a detour through
/// the queues.
// Proves: H-7.
#[test]
fn a_chain_of_joins_hands_over() {
    fn chain(depth: u32) -> u32 {
        if depth == 0 {
            0
        } else {
            pirn::spawn(move || chain(depth - 1)).join().unwrap() + 1
        }
    }
    let runtime = runtime(1);
    runtime.run(|| {
        for _ in 0..scaled(400) {
            assert_eq!(chain(32), 32);
        }
    });
    let total = runtime.metrics().total;
    let handed = total.next_hits as f64 / total.dispatched as f64;
    assert!(
        handed > 0.6,
        "{:.0} % of the dispatches were handed over",
        handed * 100.0
    );
}

/// Waiting for a whole group: by a wait group, by an idle runtime.
// Proves: H-8.
#[test]
fn waiting_for_a_group() {
    on_every_shape(|runtime| {
        let done = Arc::new(AtomicUsize::new(0));
        let group = WaitGroup::new();
        for _ in 0..100 {
            let (done, group) = (Arc::clone(&done), group.clone());
            runtime.spawn(move || {
                pirn::yield_now();
                done.fetch_add(1, Ordering::SeqCst);
                drop(group);
            });
        }
        group.wait().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 100);

        for _ in 0..100 {
            let done = Arc::clone(&done);
            runtime.spawn(move || {
                let deeper = Arc::clone(&done);
                pirn::spawn(move || deeper.fetch_add(1, Ordering::SeqCst)).detach();
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        runtime.wait_idle().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 300);
    });
}

/// Handles can be moved: joined by a thread, by a fiber of another runtime, by the fiber's own
/// child.
#[test]
fn a_handle_may_be_joined_anywhere() {
    let (home, other) = (runtime(1), runtime(1));
    let fiber = home.spawn(|| 1);
    assert_eq!(
        std::thread::spawn(|| fiber.join().unwrap()).join().unwrap(),
        1
    );
    let fiber = home.spawn(|| 2);
    assert_eq!(other.spawn(|| fiber.join().unwrap()).join().unwrap(), 2);
    let fiber = home.spawn(|| 3);
    let nested: JoinHandle<i32> = home.spawn(|| {
        let inner = pirn::spawn(|| fiber.join().unwrap());
        inner.join().unwrap()
    });
    assert_eq!(nested.join().unwrap(), 3);
}

/// The payload is available either way; what is no panic is returned, or named.
#[test]
fn a_panic_is_taken_out_of_the_error() {
    let fails = || pirn::spawn(|| -> u32 { std::panic::panic_any(7_u32) }).join();
    let payload = fails().unwrap_err().into_panic();
    assert_eq!(payload.downcast_ref(), Some(&7_u32));
    let payload = fails().unwrap_err().try_into_panic().expect("a panic");
    assert_eq!(payload.downcast_ref(), Some(&7_u32));

    let interrupted = || JoinError::Interrupted(Interrupt::Cancelled);
    let error = interrupted().try_into_panic().unwrap_err();
    assert!(matches!(
        error,
        JoinError::Interrupted(Interrupt::Cancelled)
    ));
    let raised = std::panic::catch_unwind(|| interrupted().into_panic());
    let text = raised.unwrap_err().downcast::<String>().expect("a message");
    assert!(text.contains(&interrupted().to_string()), "{text}");
}

/// Names may be borrowed from what does not outlive the call, and may be owned.
#[test]
fn names_are_given_in_any_form() {
    let owned = String::from("short-lived");
    for name in [owned.as_str(), "static"] {
        let fiber = pirn::spawn::Builder::new().name(name).spawn(|| ());
        assert_eq!(fiber.unwrap().fiber().name(), Some(name));
        let builder = Runtime::builder().name(name).workers(1);
        let runtime = builder.build().unwrap();
        let thread = runtime.run(|| std::thread::current().name().map(str::to_owned));
        assert!(thread.is_some_and(|thread| thread.starts_with(name)));
    }
    let fiber = pirn::spawn::Builder::new().name(&owned).spawn(|| ());
    assert_eq!(fiber.unwrap().fiber().name(), Some("short-lived"));
    let fiber = pirn::spawn::Builder::new().name(owned).spawn(|| ());
    assert_eq!(fiber.unwrap().fiber().name(), Some("short-lived"));
}

/// The default of a runtime is one with default settings.
#[test]
fn a_runtime_has_a_default() {
    let runtime = Runtime::default();
    let expected = Runtime::new().unwrap();
    assert_eq!(runtime.workers(), expected.workers());
    assert_eq!(runtime.spawn(|| 7).join().unwrap(), 7);
}

/// A result that is larger than the stack of the fiber which drops its handle is dropped where it
/// lies.
#[test]
fn a_large_result_is_dropped_where_it_lies() {
    #[expect(dead_code, reason = "only its size and its destructor matter")]
    struct Large([u8; 1 << 20], String);
    let ended = apart("join::a_large_result_is_dropped_where_it_lies", &[], || {
        pirn::run(|| {
            let builder = pirn::spawn::Builder::new().stack_size(16 << 20);
            let large = builder.spawn(|| Large([1; 1 << 20], String::from("text")));
            let large = large.unwrap();
            large.wait().unwrap();
            drop(large);
        });
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}
