//! Runtimes without workers, driven by hand, and the main thread's dispatcher.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::cancel::{Interrupt, Token};
use pirn::channel;
use pirn::dispatcher::{Dispatcher, run_main};
use pirn::spawn::JoinError;

use crate::dispatcher::threads;
use crate::executor_kind::runtime;
use crate::util::{LONG, SCHEDULERS, apart, eventually, scaled};

fn by_hand() -> Runtime {
    Runtime::builder().workers(0).build().expect("a runtime")
}

/// Nothing runs until the runtime is driven; then everything that can run runs, on the
/// driving thread.
// Proves: F11.
#[test]
fn nothing_runs_by_itself() {
    for scheduler in SCHEDULERS {
        let builder = Runtime::builder().workers(0).scheduler(scheduler);
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.workers(), 0);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..600 {
            let ran = Arc::clone(&ran);
            let own = thread::current().id();
            runtime.spawn(move || {
                assert_eq!(thread::current().id(), own);
                let count = Arc::clone(&ran);
                pirn::yield_now();
                pirn::spawn(move || count.fetch_add(1, Ordering::SeqCst));
            });
        }
        thread::sleep(Duration::from_millis(5));
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        runtime.run_until_idle();
        assert_eq!(ran.load(Ordering::SeqCst), 600);
        // Repeatedly.
        runtime.run_until_idle();
        let fiber = runtime.spawn(|| 4);
        runtime.run_until_idle();
        assert_eq!(fiber.join().unwrap(), 4);
    }
}

/// No thread is started, neither by the runtime nor by fibers that wait and sleep in it.
// Proves: L11.
#[test]
fn no_thread_is_started() {
    let part = || {
        let before = threads();
        let runtime = by_hand();
        let (tx, rx) = channel::bounded::<u32>(1);
        let sum = runtime.run(|| {
            let sender = pirn::spawn(move || (0..100).for_each(|n| tx.send(n).unwrap()));
            // Long enough for a monitor to start.
            pirn::sleep(Duration::from_millis(20)).unwrap();
            let sum = rx.iter().sum::<u32>();
            assert_eq!(threads(), before);
            sender.join().unwrap();
            sum
        });
        assert_eq!(sum, 4950);
        assert_eq!(threads(), before);
    };
    if let Some(ended) = apart("by_hand::no_thread_is_started", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Idle means that nothing is ready: waiting fibers resume in a later call, also those with timers,
/// for which the call does not wait.
// Proves: F11.
#[test]
fn what_waits_goes_on_later() {
    let runtime = by_hand();
    let (tx, rx) = channel::bounded::<u32>(0);
    let waits = runtime.spawn(move || rx.recv().unwrap());
    let sleeps = runtime.spawn(|| pirn::sleep(Duration::from_secs(1)).is_ok());
    let start = Instant::now();
    runtime.run_until_idle();
    assert!(!waits.is_finished() && !sleeps.is_finished());
    assert!(start.elapsed() < Duration::from_secs(1));
    let sender = thread::spawn(move || tx.send(5).unwrap());
    eventually("the value comes", || {
        runtime.run_until_idle();
        waits.is_finished()
    });
    assert_eq!(waits.join().unwrap(), 5);
    sender.join().unwrap();
    eventually("the time comes", || {
        runtime.run_until_idle();
        sleeps.is_finished()
    });
    assert!(sleeps.join().unwrap());
}

/// `run` and `wait_idle` drive as well, and sleep while there is nothing to do.
// Proves: F11.
#[test]
fn waiting_drives() {
    let runtime = by_hand();
    let (tx, rx) = channel::bounded::<u32>(0);
    let handle = runtime.handle();
    let sender = thread::spawn(move || {
        for n in 0..100 {
            tx.send(n).unwrap();
        }
        // From another thread: the driving thread runs the fibers.
        handle.run(|| thread::current().id())
    });
    let own = thread::current().id();
    let sum = runtime.run(|| {
        pirn::sleep(Duration::from_millis(2)).unwrap();
        let children: Vec<_> = (0..10).map(|n| pirn::spawn(move || n)).collect();
        let sum: u32 = children.into_iter().map(|c| c.join().unwrap()).sum();
        sum + rx.iter().sum::<u32>()
    });
    assert_eq!(sum, 45 + 4950);
    eventually("the other thread's fiber has run", || {
        runtime.run_until_idle();
        sender.is_finished()
    });
    assert_eq!(sender.join().unwrap(), own);
    for _ in 0..10 {
        runtime.spawn(|| pirn::sleep(Duration::from_millis(1)).unwrap());
    }
    runtime.wait_idle().unwrap();
    assert_eq!(
        runtime.metrics().total.completed,
        runtime.metrics().total.spawned
    );
}

/// `wait_idle` on the driving thread ends at the caller's deadline, and when the caller's token is
/// cancelled: by a fiber that it drives, or by another thread.
// Proves: F11.
#[test]
fn waiting_ends_at_the_limits_of_the_caller() {
    let runtime = by_hand();
    let (tx, rx) = channel::bounded::<()>(0);
    runtime.spawn(move || rx.recv());
    // Ends a wait that ignores its limits.
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let rescue = thread::spawn(move || {
        let _ = is_over.recv_timeout(Duration::from_secs(5));
        drop(tx);
    });
    let elapsed = pirn::timeout(Duration::from_millis(20), || runtime.wait_idle());
    assert!(elapsed.is_err(), "the deadline: {elapsed:?}");

    let token = Token::new();
    let of_fiber = token.clone();
    runtime.spawn(move || of_fiber.cancel());
    let ended = token.enter(|| runtime.wait_idle());
    assert_eq!(ended, Err(Interrupt::Cancelled), "by a fiber");

    let token = Token::new();
    let of_thread = token.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        of_thread.cancel();
    });
    let ended = token.enter(|| runtime.wait_idle());
    assert_eq!(ended, Err(Interrupt::Cancelled), "by a thread");
    canceller.join().unwrap();

    drop(over);
    rescue.join().unwrap();
    let ended = pirn::timeout(LONG, || runtime.wait_idle());
    assert_eq!(ended, Ok(Ok(())), "nothing is left");

    let parks = runtime.spawn(pirn::park);
    runtime.run_until_idle();
    let handle = runtime.handle();
    let left = runtime.shutdown(Duration::from_millis(10));
    assert_eq!(left.unwrap_err().fibers().len(), 1);
    let elapsed = pirn::timeout(Duration::from_millis(20), || handle.wait_idle());
    assert!(elapsed.is_err(), "after a shutdown: {elapsed:?}");
    parks.fiber().unpark();
    assert_eq!(pirn::timeout(LONG, || handle.wait_idle()), Ok(Ok(())));
}

/// A shutdown by another thread does not interrupt the thread that drives under a deadline.
// Proves: F11.
#[test]
fn a_shutdown_elsewhere_does_not_interrupt_the_driver() {
    let runtime = by_hand();
    let handle = runtime.handle();
    let (tx, started) = std::sync::mpsc::channel();
    runtime.spawn(move || {
        tx.send(()).unwrap();
        pirn::cancel::shield(|| pirn::sleep(Duration::from_millis(50))).unwrap();
    });
    let ender = thread::spawn(move || {
        started.recv().unwrap();
        runtime.shutdown(LONG)
    });
    assert_eq!(pirn::timeout(LONG, || handle.wait_idle()), Ok(Ok(())));
    ender
        .join()
        .unwrap()
        .expect("the driver has driven to the end");
}

/// A drive for one result ends with it, though more is queued.
// Proves: F11.
#[test]
fn a_drive_ends_when_it_is_over() {
    let runtime = by_hand();
    let (tx, rx) = channel::unbounded();
    let first = runtime.run(move || {
        for n in 0..100 {
            let tx = tx.clone();
            pirn::spawn(move || tx.send(n).unwrap());
        }
        0
    });
    assert_eq!(first, 0);
    assert!(rx.len() < 100, "these were not asked for");
    runtime.run_until_idle();
    assert_eq!(rx.iter().sum::<i32>(), 4950);
}

/// A thread that may not drive gets an error with the reason.
// Proves: F11.
#[test]
fn a_wrong_driver_is_reported() {
    let says = |what: &str, f: &dyn Fn()| {
        let raised = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        let text = raised.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(text.contains(what), "{text:?}");
    };
    says("workers(0)", &|| runtime(2).run_until_idle());
    let hand = by_hand();
    hand.run_until_idle();
    thread::scope(|s| {
        s.spawn(|| says("another thread", &|| hand.run_until_idle()));
    });
    let other = by_hand();
    runtime(1).run(|| says("runs fibers", &|| other.run_until_idle()));
    says("number of workers", &|| {
        hand.set_workers(std::num::NonZeroUsize::MIN);
    });
}

/// The end runs the remaining fibers, wherever it is called: on the driving thread, on another one
/// if none has driven, on a fiber.
// Proves: F11.
#[test]
fn the_end_drives() {
    let filled = |ran: &Arc<AtomicUsize>| {
        let runtime = by_hand();
        for _ in 0..10 {
            let ran = Arc::clone(ran);
            runtime.spawn(move || {
                pirn::sleep(Duration::from_millis(1)).unwrap();
                ran.fetch_add(1, Ordering::SeqCst);
            });
        }
        runtime
    };
    let ran = Arc::new(AtomicUsize::new(0));
    drop(filled(&ran));
    assert_eq!(ran.load(Ordering::SeqCst), 10);
    let started = filled(&ran);
    started.run_until_idle();
    drop(started);
    assert_eq!(ran.load(Ordering::SeqCst), 20);
    let unbound = filled(&ran);
    thread::spawn(move || drop(unbound)).join().unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 30);
    let unbound = filled(&ran);
    runtime(1).run(move || drop(unbound));
    assert_eq!(ran.load(Ordering::SeqCst), 40);
    // With a limit, and with fibers that do not end.
    filled(&ran).shutdown(Duration::from_secs(60)).unwrap();
    let stubborn = by_hand();
    let parks = stubborn.spawn(pirn::park);
    stubborn.run_until_idle();
    let handle = stubborn.handle();
    let left = stubborn.shutdown(Duration::from_millis(5)).unwrap_err();
    assert_eq!(left.fibers().len(), 1);
    // It ends before its thread does.
    parks.fiber().unpark();
    handle.run_until_idle();
    parks.join().unwrap();
    // A fiber that never started is dropped unrun.
    let never = by_hand();
    let fiber = never.spawn(|| ());
    never.shutdown(Duration::from_secs(60)).unwrap();
    assert!(matches!(fiber.join(), Err(JoinError::NotRun)));
}

/// Closures sent to the main thread's dispatcher run there, for as long as it is served.
// Proves: L10, L11.
#[test]
fn the_main_thread_serves() {
    let part = || {
        let own = thread::current().id();
        let early = Dispatcher::main().spawn(|| thread::current().id());
        let served = AtomicBool::new(false);
        let sum = run_main(|| {
            assert_ne!(thread::current().id(), own);
            let mut sum = 0;
            pirn::scope(|s| {
                let calls: Vec<_> = (0..100)
                    .map(|n| {
                        s.spawn(move || {
                            Dispatcher::main().run(|| {
                                assert_eq!(thread::current().id(), own);
                                n
                            })
                        })
                    })
                    .collect();
                sum = calls.into_iter().map(|c| c.join().unwrap()).sum::<i32>();
            });
            // From a plain thread as well.
            pirn::blocking(|| {
                assert_eq!(Dispatcher::main().run(|| thread::current().id()), own);
            });
            served.store(true, Ordering::SeqCst);
            sum
        });
        assert_eq!(sum, 4950);
        assert!(served.into_inner());
        assert_eq!(early.join().unwrap(), own);
        let late = Dispatcher::main().spawn(|| 9);
        assert!(!late.is_finished());
        assert_eq!(run_main(|| late.join().unwrap()), 9);
        let raised = catch_unwind(|| run_main(|| panic!("so")));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        assert!(thread::spawn(|| run_main(|| ())).join().is_err());
    };
    if let Some(ended) = apart("by_hand::the_main_thread_serves", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A waker may drive a runtime: its fibers are in no poll, and wait as usual.
#[test]
fn a_waker_that_drives() {
    struct Drives(Runtime);
    impl Wake for Drives {
        fn wake(self: Arc<Self>) {
            self.0.run_until_idle();
        }
    }
    let drives = Arc::new(Drives(by_hand()));
    let waits = drives.0.spawn(|| {
        pirn::yield_now();
        7
    });
    let (tx, rx) = channel::bounded(1);
    let mut future = pin!(rx.recv_async());
    let waker = Waker::from(Arc::clone(&drives));
    let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    tx.try_send(1).unwrap();
    assert!(waits.is_finished());
    assert_eq!(waits.join().unwrap(), 7);
}

/// A start hook that drives another runtime is still the start hook of its own: its runtime does not
/// start a second time inside it.
// Proves: F11.
#[test]
fn a_start_hook_that_drives_another_runtime() {
    static OWN: OnceLock<Runtime> = OnceLock::new();
    static REFUSED: AtomicBool = AtomicBool::new(false);
    let part = || {
        let hook = || {
            if !REFUSED.load(Ordering::SeqCst) {
                by_hand().run_until_idle();
                let inner = catch_unwind(|| OWN.get().unwrap().run_until_idle());
                REFUSED.store(inner.is_err(), Ordering::SeqCst);
            }
        };
        let builder = Runtime::builder().workers(0).on_thread_start(hook);
        let own = OWN.get_or_init(|| builder.build().unwrap());
        let (tx, rx) = channel::bounded::<u8>(1);
        let fiber = own.spawn(move || rx.recv());
        for _ in 0..2 {
            own.run_until_idle();
        }
        tx.send(7).unwrap();
        own.run_until_idle();
        assert_eq!(fiber.join().unwrap(), Ok(7));
        assert!(REFUSED.load(Ordering::SeqCst));
    };
    let name = "by_hand::a_start_hook_that_drives_another_runtime";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Spawns that are refused while the last fiber ends do not keep the drop waiting.
#[test]
fn refusals_do_not_hold_up_the_end() {
    for _ in 0..100 {
        let (runtime, refuses) = (by_hand(), Arc::new(AtomicBool::new(false)));
        let (handle, over) = (runtime.handle(), AtomicBool::new(false));
        let begun = Arc::clone(&refuses);
        // Set during the drop, so every spawn below is refused.
        let last = move || {
            begun.store(true, Ordering::SeqCst);
            pirn::sleep(Duration::from_millis(2)).unwrap();
        };
        runtime.spawn(last).detach();
        thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    while !refuses.load(Ordering::SeqCst) {
                        thread::yield_now();
                    }
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

/// A thread that waits for an idle runtime, or is refused in a poll, does not drive it: another one
/// may.
// Proves: F11.
#[test]
fn a_thread_that_does_not_drive_is_not_bound() {
    let idle = |handle: pirn::runtime::Handle| handle.wait_idle().unwrap();
    let refused = |handle: pirn::runtime::Handle| {
        let run = || pirn::future::block_on(async { handle.run(|| ()) });
        let inside = runtime(1).run(|| catch_unwind(AssertUnwindSafe(run)));
        assert!(inside.is_err(), "a wait inside a poll");
    };
    for attempt in [idle, refused] {
        let (runtime, ran) = (by_hand(), Arc::new(AtomicBool::new(false)));
        let handle = runtime.handle();
        thread::spawn(move || attempt(handle)).join().unwrap();
        let runs = Arc::clone(&ran);
        runtime
            .spawn(move || runs.store(true, Ordering::SeqCst))
            .detach();
        runtime.run_until_idle();
        assert!(ran.load(Ordering::SeqCst));
    }
}

/// A thread that drives one runtime after the other, each dropped on another thread, keeps no more
/// than the last one.
// Proves: F11.
#[test]
fn a_thread_keeps_no_runtime_that_has_ended_elsewhere() {
    let (tx, rx) = std::sync::mpsc::channel::<pirn::runtime::Handle>();
    let (driven, has_driven) = std::sync::mpsc::channel();
    let driver = thread::spawn(move || {
        for handle in rx {
            handle.run_until_idle();
            drop(handle);
            driven.send(()).unwrap();
        }
    });
    let mut kept = Vec::new();
    for _ in 0..20 {
        let probe = Arc::new(());
        kept.push(Arc::downgrade(&probe));
        let builder = Runtime::builder().workers(0);
        let stops = move || assert_eq!(Arc::strong_count(&probe), 1);
        let runtime = builder.on_thread_stop(stops).build().unwrap();
        runtime.spawn(|| ()).detach();
        tx.send(runtime.handle()).unwrap();
        has_driven.recv().unwrap();
        drop(runtime);
    }
    let left = kept.iter().filter(|kept| kept.upgrade().is_some()).count();
    assert!(left <= 1, "{left} runtimes");
    drop(tx);
    driver.join().unwrap();
    assert!(kept.iter().all(|kept| kept.upgrade().is_none()));
}

/// A thread that drives until its runtime is idle does not wait for fibers that others spawn at that
/// moment: it would have to run them itself.
// Proves: F11.
#[test]
fn a_wait_for_idleness_ends_amid_spawns() {
    let runtime = by_hand();
    let (handle, over) = (runtime.handle(), AtomicBool::new(false));
    thread::scope(|threads| {
        threads.spawn(|| {
            for gap in 0..scaled(100_000) {
                handle.spawn(|| ()).detach();
                (0..gap % 64).for_each(|_| std::hint::spin_loop());
            }
            over.store(true, Ordering::SeqCst);
        });
        while !over.load(Ordering::SeqCst) {
            runtime.wait_idle().unwrap();
        }
    });
    runtime.wait_idle().unwrap();
    assert_eq!(runtime.metrics().total.completed, scaled(100_000) as u64);
}
