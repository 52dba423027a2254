//! Fibers that wait or yield while they unwind: the fiber that they wait for runs, in any queue,
//! and none is taken for another.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, panicking};
use std::time::{Duration, Instant};

use pirn::par::join;
use pirn::runtime::Handle;
use pirn::{JoinHandle, Runtime, channel};

use crate::executor_kind::{alone, until};
use crate::util::{LONG, SCHEDULERS, eventually, shaped};

/// Calls its closure when it is dropped.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics with `payload`, and calls `last` while that unwinds.
fn unwind_through(payload: impl Any + Send, last: impl FnMut()) -> ! {
    let _last = Finally(last);
    panic_any(payload)
}

/// The same, and catches the panic.
fn caught_unwind_through(last: impl FnMut()) {
    let unwinding = AssertUnwindSafe(|| unwind_through(1, last));
    assert!(catch_unwind(unwinding).is_err());
}

/// Runs `body` as the first fiber of a runtime with one thread, which no standby worker replaces.
fn on_one_thread<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let builder = Runtime::builder().workers(1).max_threads(1);
    builder.build().expect("a runtime starts").run(body)
}

/// Joins until `over`: two halves, of which the first computes for a moment.
fn join_until(over: impl Fn() -> bool) {
    while !over() {
        let computes = || (0..1_000).for_each(|_| std::hint::spin_loop());
        join(computes, || ());
    }
}

/// Joins `sibling`, which must end in time; records that in `met`, since a destructor that runs
/// during a panic must not panic itself.
fn meet(sibling: &mut Option<JoinHandle<()>>, met: &AtomicBool) {
    let joined = sibling.take().expect("joined once").join_timeout(LONG);
    met.store(matches!(joined, Ok(Ok(()))), Ordering::SeqCst);
}

/// A fiber that unwinds joins a sibling in its worker's ring: on a single worker, the sibling runs
/// all the same.
// Proves: H-11.
#[test]
fn a_sibling_in_the_ring_is_joined() {
    for scheduler in SCHEDULERS {
        let met = AtomicBool::new(false);
        shaped(1, scheduler).run(|| {
            let mut sibling = Some(pirn::spawn(|| ()));
            pirn::scope(|s| {
                // Spawned later, so it runs first, and the sibling has left `next`.
                let unwinding =
                    s.spawn(|| unwind_through(1, || meet(&mut sibling, &met)));
                assert!(unwinding.join().unwrap_err().is_panic());
            });
        });
        assert!(met.into_inner(), "the sibling did not run, {scheduler:?}");
    }
}

/// The same, with a sibling that is spawned while the fiber unwinds.
#[test]
fn a_sibling_spawned_in_a_destructor_is_joined() {
    for scheduler in SCHEDULERS {
        let met = AtomicBool::new(false);
        shaped(1, scheduler).scope(|s| {
            let unwinding = s.spawn(|| {
                unwind_through(1, || meet(&mut Some(pirn::spawn(|| ())), &met));
            });
            assert!(unwinding.join().unwrap_err().is_panic());
        });
        assert!(met.into_inner(), "the sibling did not run, {scheduler:?}");
    }
}

/// The same, with a sibling that is spawned from a thread and so is in the injector; by waiting and
/// by yielding.
// Proves: H-11.
#[test]
fn a_sibling_in_the_injector_is_met() {
    for scheduler in SCHEDULERS {
        for yields in [false, true] {
            let runtime = shaped(1, scheduler);
            let unwinds = AtomicBool::new(false);
            let (ran, met) = (AtomicUsize::new(0), AtomicBool::new(false));
            let (tx, rx) = channel::bounded(0);
            runtime.scope(|s| {
                let unwinding = s.spawn(|| {
                    unwind_through(1, || {
                        unwinds.store(true, Ordering::SeqCst);
                        if yields {
                            let start = pirn::time::now();
                            while ran.load(Ordering::SeqCst) == 0
                                && pirn::time::now() - start < LONG
                            {
                                pirn::yield_now();
                            }
                            met.store(ran.load(Ordering::SeqCst) == 1, Ordering::SeqCst);
                        } else {
                            met.store(rx.recv_timeout(LONG).is_ok(), Ordering::SeqCst);
                        }
                    });
                });
                eventually("it unwinds", || unwinds.load(Ordering::SeqCst));
                s.spawn(|| {
                    ran.store(1, Ordering::SeqCst);
                    if !yields {
                        let _ = tx.send_timeout((), LONG);
                    }
                });
                assert!(unwinding.join().unwrap_err().is_panic());
            });
            assert!(
                met.into_inner(),
                "the sibling did not run, {scheduler:?}, {yields}"
            );
        }
    }
}

/// Two fibers of one worker wait during unwinding. Each stays panicking and ends with its own
/// panic, in either order. While the second is left, the other fibers yield to each other at once,
/// as usual; when both have ended, no fiber panics.
// Proves: F18, H-11.
#[test]
fn two_wait_in_the_middle_of_unwinding() {
    for first in [0, 1] {
        let (waiting, strayed) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let strayed = Arc::new(strayed);
        alone(|| {
            let (mut ends, mut fibers) = (Vec::new(), Vec::new());
            for number in 0..2_usize {
                let (tx, rx) = channel::bounded::<()>(1);
                let (waiting, strayed) = (Arc::clone(&waiting), Arc::clone(&strayed));
                ends.push(tx);
                fibers.push(Some(pirn::spawn(move || {
                    unwind_through(number, || {
                        waiting.fetch_add(1, Ordering::SeqCst);
                        let ended = rx.recv().is_ok();
                        let right = ended && panicking();
                        strayed.fetch_add(usize::from(!right), Ordering::SeqCst);
                    });
                })));
            }
            until(&waiting, 2);
            for number in [first, 1 - first] {
                ends[number].send(()).unwrap();
                let fiber: JoinHandle<()> = fibers[number].take().unwrap();
                let payload = fiber.join().unwrap_err().into_panic();
                assert_eq!(payload.downcast_ref(), Some(&number));
                let ran = Arc::new(AtomicBool::new(false));
                let runs = Arc::clone(&ran);
                pirn::spawn(move || runs.store(true, Ordering::SeqCst)).detach();
                pirn::yield_now();
                assert!(
                    ran.load(Ordering::SeqCst),
                    "no way was given after {number}"
                );
            }
            assert!(!panicking());
            assert!(!pirn::spawn(panicking).join().unwrap());
        });
        assert_eq!(strayed.load(Ordering::SeqCst), 0, "they forgot their panic");
    }
}

/// After a fiber that had to be suspended during unwinding has ended, the next one that unwinds
/// stays on its thread again: the fibers that run after it do not appear as panicking.
// Proves: H-11.
#[test]
fn the_next_that_unwinds_stays_in_place() {
    for _ in 0..5 {
        alone(|| {
            let (tx, rx) = channel::bounded(1);
            let (done, seen) = channel::bounded(1);
            // Runs while the first is suspended; its own spawn runs when the first has ended.
            let sibling = pirn::spawn(move || {
                let nap = || _ = pirn::sleep(Duration::from_millis(1));
                pirn::spawn(move || unwind_through(2, nap)).detach();
                pirn::spawn(move || done.send(panicking())).detach();
                tx.send(()).unwrap();
            });
            let left = pirn::spawn(move || unwind_through(1, || _ = rx.recv()));
            assert_eq!(seen.recv(), Ok(false), "taken for the one that unwinds");
            assert!(left.join().is_err());
            sibling.join().unwrap();
        });
    }
}

/// The way in which a fiber lets others run.
#[derive(Debug, Copy, Clone)]
enum Way {
    Yields,
    Parks,
    Joins,
}

/// A fiber was suspended during unwinding, and has caught its panic. Once it has let others run,
/// the next fiber that unwinds stays on its thread again.
#[test]
fn a_panic_that_is_caught_leaves_no_trace() {
    for way in [Way::Yields, Way::Parks, Way::Joins] {
        let seen = on_one_thread(move || {
            let (tx, rx) = channel::bounded(1);
            // It runs when this fiber has been suspended.
            pirn::spawn(move || tx.send(()).unwrap()).detach();
            caught_unwind_through(|| _ = rx.recv());
            let (done, seen) = channel::bounded(1);
            let sees = || {
                let done = done.clone();
                pirn::spawn(move || done.send(panicking()).unwrap()).detach();
                let _ = pirn::sleep(Duration::from_millis(1));
            };
            pirn::scope::supervise(|s| {
                s.spawn(|| unwind_through(2, sees));
                match way {
                    Way::Yields => pirn::yield_now(),
                    Way::Parks => {}
                    Way::Joins => {
                        let start = Instant::now();
                        join_until(|| !seen.is_empty() || start.elapsed() > LONG);
                    }
                }
                seen.recv()
            })
        });
        assert_eq!(seen, Ok(false), "taken for the one that unwinds, {way:?}");
    }
}

/// The first yield of a fiber that unwinds is in place: a fiber that is ready runs later, and is
/// not taken for one that panics.
#[test]
fn the_first_yield_amid_a_panic_is_in_place() {
    let seen = on_one_thread(|| {
        let sees = pirn::spawn(panicking);
        caught_unwind_through(pirn::yield_now);
        assert!(!sees.is_finished());
        sees.join().unwrap()
    });
    assert!(!seen);
}

/// A fiber that unwinds and waits or yields for long stays in place as long as no other fiber is
/// ready, and so does its next wait, which must take less than ten milliseconds; all in less than
/// the 30 ms after which it leaves for a report on the fibers.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_waits_amid_a_panic_without_others_are_in_place() {
    let long = Duration::from_millis(20);
    for (sleeps, reports) in [(false, false), (true, false), (false, true), (true, true)]
    {
        let seen = on_one_thread(|| {
            let (mut sees, mut reported) = (None, None);
            caught_unwind_through(|| {
                let start = Instant::now();
                let handle = Handle::current();
                let report = reports.then(|| thread::spawn(move || handle.fibers()));
                while start.elapsed() < long {
                    match sleeps {
                        true => _ = pirn::sleep(long),
                        false => pirn::yield_now(),
                    }
                }
                sees = Some(pirn::spawn(panicking));
                let _ = pirn::sleep(Duration::from_millis(1));
                reported = report;
            });
            let sees = sees.expect("the destructor has run");
            assert!(!sees.is_finished(), "it has left, {sleeps}, {reports}");
            if let Some(report) = reported {
                let fibers = pirn::blocking(|| report.join());
                let fibers = fibers.expect("no panic in a report");
                // The worker has answered for it.
                assert!(
                    fibers.iter().any(|fiber| fiber.stack_size > 0),
                    "{fibers:?}"
                );
            }
            sees.join().unwrap()
        });
        assert!(!seen);
    }
}

/// A fiber unwinds, and its destructor does `last` until `over`, which lets others run in the end.
/// From then on, the others let each other run at once.
fn others_run_beside(last: impl Fn(&AtomicBool) + Send + 'static) {
    on_one_thread(|| {
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let unwinds = pirn::spawn(move || unwind_through(1, || last(&ends)));
        pirn::yield_now();
        let ran = [false, true].map(|sleeps| {
            let runs = pirn::spawn(|| ());
            // Each takes far less time than a fiber that unwinds blocks its thread.
            (0..5).for_each(|_| match sleeps {
                true => _ = pirn::sleep(Duration::from_millis(1)),
                false => pirn::yield_now(),
            });
            runs.is_finished()
        });
        over.store(true, Ordering::SeqCst);
        assert!(unwinds.join().is_err());
        assert_eq!(ran, [true; 2], "one was not let run");
    });
}

#[test]
fn others_run_beside_one_that_yields_amid_a_panic() {
    others_run_beside(|over| {
        while !over.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
    });
}

#[test]
fn others_run_beside_one_that_joins_amid_a_panic() {
    others_run_beside(|over| join_until(|| over.load(Ordering::SeqCst)));
}

/// The second half of a join runs, though the first half waits for it amid a panic, and only by
/// yields.
#[test]
fn the_other_half_runs_beside_one_that_yields_amid_a_panic() {
    let met = AtomicBool::new(false);
    on_one_thread(|| {
        let ran = AtomicBool::new(false);
        let first = || {
            let yields = || {
                let start = Instant::now();
                while !ran.load(Ordering::SeqCst) && start.elapsed() < LONG {
                    pirn::yield_now();
                }
                met.store(ran.load(Ordering::SeqCst), Ordering::SeqCst);
            };
            unwind_through(1, yields);
        };
        let second = || ran.store(true, Ordering::SeqCst);
        let both = AssertUnwindSafe(|| join(first, second));
        assert!(catch_unwind(both).is_err());
    });
    assert!(met.into_inner(), "the second half did not run");
}

/// Where time is virtual it passes for a fiber that unwinds as for any other one, whatever real
/// time does.
#[test]
fn virtual_time_passes_amid_a_panic() {
    for time in [Duration::from_millis(1), Duration::from_secs(3_600)] {
        pirn::runtime::test(|_| {
            let start = pirn::time::now();
            let mut slept = Duration::ZERO;
            caught_unwind_through(|| {
                let _ = pirn::sleep(time);
                slept = pirn::time::now() - start;
            });
            assert_eq!(slept, time);
        });
    }
}

/// Where time is virtual, each yield of a fiber that unwinds lets others run: in place, none of
/// them would run until real time has passed.
#[test]
fn yields_amid_a_panic_are_not_in_place_in_virtual_time() {
    pirn::runtime::test(|_| {
        let other = pirn::spawn(|| ());
        let mut ended = false;
        caught_unwind_through(|| {
            // Which fiber is next is drawn by lot.
            (0..50).for_each(|_| pirn::yield_now());
            ended = other.is_finished();
        });
        assert!(ended, "the other one was not let run");
    });
}
