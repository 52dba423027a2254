//! Fibers that wait or yield while they unwind: the fiber that they wait for runs, in any queue,
//! and none is taken for another.

use std::any::Any;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::panicking;
use std::time::Duration;

use pirn::{JoinHandle, channel};

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

/// Joins `sibling`, which must end in time; records that in `met`, since a destructor that runs
/// during a panic must not panic itself.
fn meet(sibling: &mut Option<JoinHandle<()>>, met: &AtomicBool) {
    let joined = sibling.take().expect("joined once").join_timeout(LONG);
    met.store(matches!(joined, Ok(Ok(()))), Ordering::SeqCst);
}

/// A fiber that unwinds joins a sibling in its worker's ring: on a single worker, the sibling runs
/// all the same.
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
                let payload = fiber.join().unwrap_err().into_panic().unwrap();
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
