//! Dispatchers: which fiber runs where, in which order, and how many at a time.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pirn::dispatcher::{Dispatcher, spawn_on};
use pirn::spawn::JoinError;
use pirn::{Runtime, channel};

use crate::executor_kind::{alone, prefix, runtime};
use crate::util::{
    LONG, SLACK, apart, compute_until, eventually, mappings, resident, scaled,
};

/// Threads of this process.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .expect("is there")
        .count()
}

/// There is one default dispatcher, and one for I/O; any other is itself and its clones.
// Proves: L1.
#[test]
fn which_dispatchers_are_the_same() {
    assert_eq!(Dispatcher::default(), Dispatcher::default());
    assert_eq!(Dispatcher::io(), Dispatcher::io());
    assert_ne!(Dispatcher::default(), Dispatcher::io());
    let own = Dispatcher::single().unwrap();
    assert_eq!(own.clone(), own);
    assert_ne!(own, Dispatcher::single().unwrap());
    assert_ne!(own.limited(1), own);
    // Also from within others.
    let inside = Dispatcher::io().run(Dispatcher::default);
    assert_eq!(inside, Dispatcher::default());
    let default = Dispatcher::default().run(prefix);
    assert_eq!(default, pirn::runtime::Handle::current().run(prefix));
    let runtime = runtime(1);
    assert_eq!(runtime.dispatcher(), runtime.handle().dispatcher());
    assert_ne!(runtime.dispatcher(), Dispatcher::default());
}

/// As many fibers as there are threads block in the dispatcher for I/O at once, and fibers
/// elsewhere keep running.
// Proves: L2.
#[test]
fn sixty_four_block_at_once() {
    let part = || {
        let runtime = runtime(2);
        let inside = AtomicUsize::new(0);
        let released = AtomicBool::new(false);
        let io = Dispatcher::io();
        runtime.scope(|s| {
            for _ in 0..64 {
                s.spawn_on(&io, || {
                    inside.fetch_add(1, Ordering::SeqCst);
                    while !released.load(Ordering::SeqCst) {
                        thread::sleep(Duration::from_millis(1));
                    }
                });
            }
            eventually("all are inside", || inside.load(Ordering::SeqCst) == 64);
            for n in 0..1_000 {
                assert_eq!(runtime.spawn(move || n).join().unwrap(), n);
            }
            released.store(true, Ordering::SeqCst);
        });
    };
    if let Some(ended) = apart("dispatcher::sixty_four_block_at_once", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A fiber of the dispatcher for I/O has its thread to itself from start to end, also while it is
/// parked; excess fibers wait, and none is lost.
// Proves: L2.
#[test]
fn an_io_fiber_has_its_thread_alone() {
    let part = || {
        let io = Dispatcher::io();
        let most = 64.max(thread::available_parallelism().unwrap().get());
        let started = Arc::new(AtomicUsize::new(0));
        let ids = Arc::new(Mutex::new(BTreeSet::new()));
        let (tx, rx) = channel::bounded::<()>(0);
        let fibers: Vec<_> = (0..most + 10)
            .map(|_| {
                let (started, ids, rx) = (started.clone(), ids.clone(), rx.clone());
                io.spawn(move || {
                    let id = format!("{:?}", thread::current().id());
                    ids.lock().unwrap().insert(id);
                    started.fetch_add(1, Ordering::SeqCst);
                    assert!(rx.recv().is_err());
                })
            })
            .collect();
        let all = || started.load(Ordering::SeqCst);
        eventually("all that there are threads for", || all() == most);
        // The others stay where they are, though 64 workers are asleep.
        thread::sleep(Duration::from_millis(50));
        assert_eq!(all(), most);
        assert_eq!(ids.lock().unwrap().len(), most);
        drop(tx);
        for fiber in fibers {
            fiber.join().unwrap();
        }
        assert_eq!(all(), most + 10);
    };
    let name = "dispatcher::an_io_fiber_has_its_thread_alone";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A fiber of the dispatcher for I/O spawns there too, and joins work though the spawner keeps its
/// thread.
// Proves: L2.
#[test]
fn io_fibers_spawn_io_fibers() {
    let sum = Dispatcher::io().run(|| {
        let own = thread::current().id();
        let children: Vec<_> = (0..10)
            .map(|n| {
                pirn::spawn(move || {
                    assert_ne!(thread::current().id(), own);
                    assert_eq!(prefix(), "pirn-io");
                    n
                })
            })
            .collect();
        children.into_iter().map(|c| c.join().unwrap()).sum::<i32>()
    });
    assert_eq!(sum, 45);
}

/// A thousand dispatchers are created and dropped; no thread, no mapping and no memory stays.
// Proves: L3.
#[test]
fn a_thousand_dispatchers_leave_nothing() {
    let part = || {
        let round = |n: usize| {
            let own = match n % 4 {
                0 => Dispatcher::new(2),
                _ => Dispatcher::single(),
            }
            .unwrap();
            let ran = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&ran);
            let nobody_waits = own.spawn(move || {
                pirn::yield_now();
                count.fetch_add(1, Ordering::SeqCst);
            });
            drop(nobody_waits);
            assert_eq!(own.run(|| 1), 1);
            drop(own);
            assert_eq!(ran.load(Ordering::SeqCst), 1);
        };
        (0..100).for_each(round);
        let (before, memory, maps) = (threads(), resident(), mappings());
        (0..scaled(1_000)).for_each(round);
        // A thread that has been joined may be listed for a moment.
        eventually("the threads are gone", || threads() <= before);
        assert!(
            mappings() <= maps + 16,
            "{maps} mappings became {}",
            mappings()
        );
        // A sanitizer keeps freed memory for a while.
        if SLACK == 1 {
            let grown = resident().saturating_sub(memory);
            assert!(grown < 8 << 20, "{grown} bytes stayed");
        }
    };
    let name = "dispatcher::a_thousand_dispatchers_leave_nothing";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Fibers of a single dispatcher start in the order of their spawns, also those of its own
/// fibers, and never run two at a time.
// Proves: L4.
#[test]
fn a_single_dispatcher_keeps_order() {
    let single = Dispatcher::single().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let inside = Arc::new(AtomicBool::new(false));
    let note = |n: usize| {
        let (order, inside) = (Arc::clone(&order), Arc::clone(&inside));
        move || {
            assert!(!inside.swap(true, Ordering::Relaxed), "two at a time");
            order.lock().unwrap().push(n);
            inside.store(false, Ordering::Relaxed);
            pirn::yield_now();
            assert!(!inside.swap(true, Ordering::Relaxed), "two at a time");
            inside.store(false, Ordering::Relaxed);
        }
    };
    let outside: Vec<_> = (0..500).map(|n| single.spawn(note(n))).collect();
    for fiber in outside {
        fiber.join().unwrap();
    }
    let notes: Vec<_> = (500..1_000).map(note).collect();
    let inner: Vec<_> =
        single.run(|| notes.into_iter().map(|n| pirn::spawn(n)).collect());
    for fiber in inner {
        fiber.join().unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..1_000).collect::<Vec<_>>());
}

/// The fibers of a single dispatcher have one thread, also while they block it.
// Proves: L4.
#[test]
fn a_single_dispatcher_has_one_thread() {
    let single = Dispatcher::single().unwrap();
    let (inside, ids) = (AtomicBool::new(false), Mutex::new(BTreeSet::new()));
    pirn::scope(|s| {
        for _ in 0..6 {
            s.spawn_on(&single, || {
                assert!(!inside.swap(true, Ordering::SeqCst), "two at a time");
                let id = format!("{:?}", thread::current().id());
                ids.lock().unwrap().insert(id);
                // Long enough for standby workers, if there were any.
                thread::sleep(Duration::from_millis(30));
                inside.store(false, Ordering::SeqCst);
            });
        }
    });
    assert_eq!(ids.into_inner().unwrap().len(), 1);
}

/// A fiber that uses a channel between two dispatchers stays on its own dispatcher.
// Proves: L6, L7.
#[test]
fn a_channel_between_dispatchers_moves_no_fiber() {
    let (here, there) = (Dispatcher::new(2).unwrap(), Dispatcher::new(2).unwrap());
    for capacity in [0, 1, 16] {
        let (tx, rx) = channel::bounded(capacity);
        let (back, echo) = channel::bounded(capacity);
        let one = here.spawn(move || {
            let own = prefix();
            for n in 0..1_000_usize {
                tx.send(n).unwrap();
                assert_eq!(echo.recv().unwrap(), n);
                assert_eq!(prefix(), own);
            }
            own
        });
        let other = there.spawn(move || {
            let own = prefix();
            for n in rx.iter() {
                assert_eq!(prefix(), own);
                back.send(n).unwrap();
            }
            own
        });
        assert_ne!(one.join().unwrap(), other.join().unwrap());
    }
}

/// `run` borrows, returns, propagates panics, and leaves the caller in place.
// In place: on its thread.
// Proves: L6.
#[cfg(not(pirn_free))]
#[test]
fn run_borrows_and_raises() {
    for place in [
        Dispatcher::io(),
        Dispatcher::default(),
        Dispatcher::single().unwrap(),
        Dispatcher::new(3).unwrap().limited(2),
        Dispatcher::unconfined(),
        runtime(1).dispatcher(),
    ] {
        let check = || {
            let own = thread::current().id();
            let mut log = vec![1];
            let sum = place.run(|| {
                log.push(2);
                log.iter().sum::<i32>()
            });
            assert_eq!((sum, log.len()), (3, 2));
            assert_eq!(thread::current().id(), own);
            let raised = catch_unwind(AssertUnwindSafe(|| place.run(|| panic!("so"))));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        };
        // The last one's runtime has ended.
        let gone = catch_unwind(AssertUnwindSafe(|| place.run(|| ()))).is_err();
        if gone {
            let refused = place.spawn(|| ()).join();
            assert!(matches!(refused, Err(JoinError::NotRun)));
            continue;
        }
        check();
        runtime(2).run(check);
    }
}

/// `run` on the current dispatcher calls at once, also within the bounds that the caller has
/// passed.
// Proves: L6.
#[test]
fn run_where_one_is_calls_at_once() {
    let whole = Dispatcher::new(2).unwrap();
    let (one, other) = (whole.limited(1), whole.limited(1));
    let inner = one.limited(1);
    for place in [&whole, &one, &inner] {
        let same = place.run(|| {
            let fiber = pirn::current().id();
            place.run(|| pirn::current().id()) == fiber
                && whole.run(|| pirn::current().id()) == fiber
        });
        assert!(same);
    }
    // A fiber that has its turn in the inner queue has it in the outer one.
    assert!(inner.run(|| one.run(|| true)));
    // Another queue is independent.
    let moved = one.run(|| {
        let fiber = pirn::current().id();
        other.run(|| pirn::current().id()) != fiber
    });
    assert!(moved);
}

/// A drop of the last handle waits for every fiber, including those that wait for their turn.
// Proves: L3.
#[test]
fn the_last_handle_drains() {
    for on_fiber in [false, true] {
        let drained = move || {
            let ran = Arc::new(AtomicUsize::new(0));
            let own = Dispatcher::new(2).unwrap();
            let line = own.limited(2);
            for n in 0..100 {
                let ran = Arc::clone(&ran);
                let place = if n % 2 == 0 { &own } else { &line };
                spawn_on(place, move || {
                    let count = Arc::clone(&ran);
                    pirn::spawn(move || {
                        pirn::sleep(Duration::from_micros(100)).unwrap();
                        count.fetch_add(1, Ordering::SeqCst)
                    });
                    ran.fetch_add(1, Ordering::SeqCst);
                });
            }
            drop(own);
            drop(line);
            assert_eq!(ran.load(Ordering::SeqCst), 200);
        };
        match on_fiber {
            false => drained(),
            true => runtime(1).run(drained),
        }
    }
}

/// A fiber of the dispatcher drops the last handle: all fibers end all the same, none is cancelled.
// Proves: L3.
#[test]
fn the_last_handle_dropped_inside() {
    let own = Dispatcher::new(2).unwrap();
    // The drop below may be the last one too, and waits for the sending fiber.
    let (tx, rx) = channel::bounded(1);
    let inside = own.clone();
    let fiber = own.spawn(move || {
        let slow = inside.spawn(move || {
            let waited = pirn::sleep(Duration::from_millis(5));
            tx.send(waited.is_ok()).unwrap();
        });
        drop(inside);
        drop(slow);
    });
    drop(own);
    fiber.join().unwrap();
    assert!(rx.recv().unwrap(), "no fiber was to be interrupted");
}

/// An unconfined fiber runs at once, on the spawner's thread, and stays there.
// Settled.
// Proves: L5.
#[cfg(not(pirn_free))]
#[test]
fn unconfined_fibers_stay_with_the_caller() {
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        runtime.scope(|s| {
            for _ in 0..2 * workers {
                s.spawn(|| {
                    for _ in 0..50 {
                        let own = thread::current().id();
                        let begun = Arc::new(AtomicBool::new(false));
                        let seen = Arc::clone(&begun);
                        let fiber = Dispatcher::unconfined().spawn(move || {
                            seen.store(true, Ordering::SeqCst);
                            let first = thread::current().id();
                            pirn::yield_now();
                            (first, thread::current().id())
                        });
                        assert!(begun.load(Ordering::SeqCst), "it ran at once");
                        assert_eq!(fiber.join().unwrap(), (own, own));
                    }
                });
            }
        });
    }
    // From a plain thread: the current runtime.
    let own = runtime(1);
    let there = own.run(|| thread::current().id());
    let unconfined = Dispatcher::unconfined();
    let id = own.enter(|| unconfined.spawn(|| thread::current().id()).join());
    assert_eq!(id.unwrap(), there);
}

/// Unconfined fibers that spawn unconfined fibers run in the order of a call.
// Proves: L5.
#[test]
fn unconfined_fibers_nest() {
    alone(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let outer = Arc::clone(&log);
        let fiber = Dispatcher::unconfined().spawn(move || {
            outer.lock().unwrap().push(1);
            let inner = Arc::clone(&outer);
            let child =
                Dispatcher::unconfined().spawn(move || inner.lock().unwrap().push(2));
            child.join().unwrap();
            outer.lock().unwrap().push(3);
        });
        fiber.join().unwrap();
        assert_eq!(*log.lock().unwrap(), [1, 2, 3]);
    });
}

/// Children of one scope on several dispatchers may borrow, and their panics propagate from the
/// scope.
// Proves: L6.
#[test]
fn a_scope_spans_dispatchers() {
    let places = [
        Dispatcher::io(),
        Dispatcher::single().unwrap(),
        Dispatcher::new(2).unwrap().limited(1).queue_limit(1),
        Dispatcher::unconfined(),
    ];
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        let check = || {
            let sum = AtomicUsize::new(0);
            let mut names = Vec::new();
            pirn::scope(|s| {
                let handles: Vec<_> = (0..40)
                    .map(|n| {
                        s.spawn_on(&places[n % 4], || {
                            pirn::yield_now();
                            sum.fetch_add(1, Ordering::SeqCst);
                            prefix()
                        })
                    })
                    .collect();
                names.extend(handles.into_iter().map(|h| h.join().unwrap()));
            });
            assert_eq!(sum.into_inner(), 40);
            assert!(names.iter().step_by(4).all(|name| name == "pirn-io"));
            let raised = catch_unwind(AssertUnwindSafe(|| {
                pirn::scope(|s| drop(s.spawn_on(&places[1], || panic!("so"))));
            }));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        };
        runtime.run(check);
        check();
    }
}

/// The deadline of a scope applies to its fibers on other workers, unless those have another clock.
#[test]
fn a_scopes_deadline_holds_where_its_clock_does() {
    let elsewhere = Dispatcher::single().unwrap();
    let limited_on = |place: &Dispatcher| {
        let mut limited = false;
        let far = pirn::time::now() + LONG;
        pirn::cancel::with_deadline(far, || {
            pirn::scope(|s| {
                _ = s.spawn_on(place, || limited = pirn::cancel::deadline().is_some());
            });
        });
        limited
    };
    let seeded = Runtime::builder().deterministic(7).build().unwrap();
    for (own, expected) in [(runtime(1), true), (seeded, false)] {
        let places = [
            own.dispatcher(),
            Dispatcher::unconfined(),
            elsewhere.clone(),
        ];
        let limited = own.run(|| places.each_ref().map(limited_on));
        assert_eq!(limited, [true, true, expected]);
    }
}

/// Virtual time stands still while a fiber's closure runs elsewhere.
#[test]
fn virtual_time_waits_for_other_dispatchers() {
    pirn::runtime::test(|_| {
        let start = pirn::time::now();
        let sleeper = pirn::spawn(|| pirn::sleep(Duration::from_secs(3_600)).unwrap());
        Dispatcher::io().run(|| thread::sleep(Duration::from_millis(2)));
        assert_eq!(pirn::time::now(), start);
        sleeper.join().unwrap();
    });
}

/// Fibers of one dispatcher compute without delaying those of another.
#[test]
fn dispatchers_do_not_hold_each_other_up() {
    let (busy, free) = (Dispatcher::single().unwrap(), Dispatcher::single().unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&done);
    let computes = busy
        .spawn(move || compute_until("the other runs", || over.load(Ordering::SeqCst)));
    free.run(|| done.store(true, Ordering::SeqCst));
    computes.join().unwrap();
}

/// A dispatcher has as many workers as requested, at least one, and never more threads.
#[test]
fn a_dispatcher_keeps_its_number() {
    let error = Dispatcher::new(0).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    let two = Dispatcher::new(2).unwrap();
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    pirn::scope(|s| {
        for _ in 0..6 {
            s.spawn_on(&two, || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Long enough for standby workers, if there were any.
                thread::sleep(Duration::from_millis(30));
                now.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    assert!(most.into_inner() <= 2);
}

/// A dispatcher that is dropped inside a poll does not wait, and its threads end.
// Proves: L3.
#[test]
fn a_dispatcher_may_end_inside_a_poll() {
    runtime(1).run(|| {
        let seven = pirn::future::wait(async {
            let own = Dispatcher::new(1).unwrap();
            own.spawn(|| 7).await.unwrap()
        });
        assert_eq!(seven, Ok(7));
    });
}
