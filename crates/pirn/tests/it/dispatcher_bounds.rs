//! The bounds of dispatchers: how many fibers wait, how many are under way, and how long each is
//! counted.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pirn::channel;
use pirn::diag::State;
use pirn::dispatcher::Dispatcher;
use pirn::spawn::{JoinError, JoinHandle};

use crate::executor_kind::{prefix, runtime};
use crate::util::{LONG, eventually};

/// A fiber that fills a bounded queue parks. Its worker, the only one, runs others meanwhile. Each
/// submitted fiber runs once, in order, and none is lost.
// Proves: L8.
#[test]
fn a_full_queue_parks_its_submitter() {
    const CALLS: usize = 100;
    let single = Dispatcher::single().unwrap().queue_limit(2);
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let order = Arc::new(Mutex::new(Vec::new()));
    let submitted = Arc::new(AtomicUsize::new(0));
    // A drop would wait for a blocked worker, so a failure leaks the runtime.
    let runtime = ManuallyDrop::new(runtime(1));
    let submitter = {
        let (submitted, order) = (Arc::clone(&submitted), Arc::clone(&order));
        let blocked = Arc::clone(&gate);
        runtime.spawn(move || {
            let blocker = single.spawn(move || {
                let open = blocked.0.lock().unwrap();
                drop(blocked.1.wait_while(open, |open| !*open).unwrap());
            });
            let fibers: Vec<_> = (0..CALLS)
                .map(|n| {
                    let order = Arc::clone(&order);
                    let fiber = single.spawn(move || order.lock().unwrap().push(n));
                    submitted.fetch_add(1, Ordering::SeqCst);
                    fiber
                })
                .collect();
            blocker.join().unwrap();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        })
    };
    let own = submitter.fiber().id();
    let state = || {
        let fibers = runtime.fibers();
        fibers
            .iter()
            .find(|fiber| fiber.id == own)
            .map(|fiber| fiber.state)
    };
    // It parks before that, too, if the blocker has not started yet.
    eventually("the queue is full", || {
        submitted.load(Ordering::SeqCst) >= 2 && state() == Some(State::Parked)
    });
    let before = submitted.load(Ordering::SeqCst);
    assert_eq!(before, 2, "the queue holds two");
    for n in 0..1_000 {
        let other = runtime.spawn(move || n).join_timeout(LONG);
        let other = other.expect("the worker goes on beside its parked submitter");
        assert_eq!(other.unwrap(), n);
    }
    eventually("it is still parked", || state() == Some(State::Parked));
    assert_eq!(submitted.load(Ordering::SeqCst), before);
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    eventually("each job has run", || order.lock().unwrap().len() == CALLS);
    let end = submitter.join_timeout(LONG);
    end.expect("the submitter goes on").unwrap();
    assert_eq!(*order.lock().unwrap(), (0..CALLS).collect::<Vec<_>>());
    drop(ManuallyDrop::into_inner(runtime));
}

/// A bounded queue never exceeds its bound, with any mix of submitters.
// Proves: L8.
#[test]
fn a_queue_holds_as_many_as_it_may() {
    let bounded = Dispatcher::new(2).unwrap().limited(1).queue_limit(3);
    let (submitted, started) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let total = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                pirn::scope(|fibers| {
                    for _ in 0..250 {
                        fibers.spawn_on(&bounded, || {
                            let begun = started.fetch_add(1, Ordering::SeqCst);
                            // Submitters increment afterwards, so this is a lower bound.
                            let queued = submitted.load(Ordering::SeqCst);
                            assert!(queued.saturating_sub(begun) <= 3 + 1);
                            total.fetch_add(1, Ordering::SeqCst);
                        });
                        submitted.fetch_add(1, Ordering::SeqCst);
                    }
                });
            });
        }
    });
    assert_eq!(total.into_inner(), 1_000);
}

/// At most so many fibers of a limited dispatcher are under way at a time, parked ones included;
/// they start in order, and all have their turn.
// Proves: L4.
#[test]
fn a_limit_counts_from_start_to_end() {
    let whole = Dispatcher::new(4).unwrap();
    for most in [1, 2, 5] {
        for place in [whole.limited(most), whole.limited(most).limited(7)] {
            let now = Arc::new(AtomicUsize::new(0));
            let peak = Arc::new(AtomicUsize::new(0));
            let order = Arc::new(Mutex::new(Vec::new()));
            let fibers: Vec<_> = (0..200)
                .map(|n| {
                    let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
                    let order = Arc::clone(&order);
                    place.spawn(move || {
                        let inside = now.fetch_add(1, Ordering::SeqCst) + 1;
                        peak.fetch_max(inside, Ordering::SeqCst);
                        order.lock().unwrap().push(n);
                        pirn::yield_now();
                        pirn::sleep(Duration::from_micros(10)).unwrap();
                        now.fetch_sub(1, Ordering::SeqCst);
                        assert!(n % 50 != 7, "a panic gives its turn up too");
                    })
                })
                .collect();
            for (n, fiber) in fibers.into_iter().enumerate() {
                assert_eq!(fiber.join().is_err(), n % 50 == 7);
            }
            assert!(peak.load(Ordering::SeqCst) <= most);
            if most == 1 {
                assert_eq!(*order.lock().unwrap(), (0..200).collect::<Vec<_>>());
            }
        }
    }
}

/// A fiber that is cancelled while it waits for its turn never runs, and the next ones do.
// Proves: L4.
#[test]
fn a_cancelled_fiber_gives_its_turn_up() {
    let line = Dispatcher::new(1).unwrap().limited(1);
    let (tx, rx) = channel::bounded::<()>(0);
    let first = line.spawn(move || _ = rx.recv());
    let second = line.spawn(|| ());
    let third = line.spawn(|| 3);
    second.cancel();
    drop(tx);
    first.join().unwrap();
    assert!(matches!(second.join(), Err(JoinError::NotRun)));
    assert_eq!(third.join().unwrap(), 3);
}

/// Two fibers under different limits are under way together; both run on the same pool.
// Proves: L4.
#[test]
fn limits_are_apart() {
    let whole = Dispatcher::new(2).unwrap();
    let (one, other) = (whole.limited(1), whole.limited(1));
    let (tx, rx) = channel::bounded(0);
    let sends = one.spawn(move || tx.send(prefix()).unwrap());
    let received = other.run(|| rx.recv().unwrap());
    sends.join().unwrap();
    assert_eq!(received, whole.run(prefix));
}

/// A panic in the copy of a fiber-local value leaves the turns of a limited dispatcher unchanged.
#[test]
fn a_spawn_that_panics_takes_no_turn() {
    struct Fragile;
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            panic!("no copies")
        }
    }
    pirn::fiber_local! {
        static FRAGILE: Fragile = Fragile, inherit;
    }
    let one = Dispatcher::new(4).unwrap().limited(1);
    pirn::run(|| {
        FRAGILE.with(|_| ());
        let raised = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| drop(s.spawn_on(&one, || ())));
        }));
        assert!(raised.is_err());
    });
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    pirn::scope(|s| {
        for _ in 0..20 {
            s.spawn_on(&one, || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                pirn::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    assert_eq!(most.into_inner(), 1);
}

/// A turn lasts until the last code of its fiber has run: destructors of fiber-locals, its own and
/// inherited ones, and of an unclaimed result.
// Proves: L4.
#[test]
fn a_turn_is_given_up_last() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    /// Fails if two are inside, wherever the fiber waits meanwhile.
    fn alone_inside() {
        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
        pirn::yield_now();
        pirn::sleep(Duration::from_micros(50)).unwrap();
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }

    struct Guarded(bool);
    impl Clone for Guarded {
        fn clone(&self) -> Guarded {
            Guarded(true)
        }
    }
    impl Drop for Guarded {
        fn drop(&mut self) {
            if self.0 {
                alone_inside();
                DROPPED.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    pirn::fiber_local! {
        static INHERITED: Guarded = Guarded(false), inherit;
        static OWN: Guarded = Guarded(true)
    }

    for workers in [1, 2, 4, 8] {
        let before = DROPPED.load(Ordering::SeqCst);
        let whole = Dispatcher::new(workers).unwrap();
        let one = whole.limited(1);
        runtime(2).run(|| {
            INHERITED.with(|_| ());
            pirn::scope(|s| {
                for _ in 0..20 {
                    s.spawn_on(&one, || OWN.with(|_| alone_inside()));
                    // Detached.
                    drop(one.spawn(|| {
                        alone_inside();
                        Guarded(true)
                    }));
                }
            });
        });
        drop(one);
        drop(whole);
        assert_eq!(DROPPED.load(Ordering::SeqCst) - before, 60);
    }
    assert_eq!(INSIDE.load(Ordering::SeqCst), 0);
}

/// The destructor of a fiber-local has its fiber's turn: what it runs on the limited dispatcher is
/// called at once.
// Proves: L4.
#[test]
fn a_destructor_has_its_fibers_turn() {
    struct Runs(Dispatcher);
    impl Drop for Runs {
        fn drop(&mut self) {
            assert_eq!(self.0.run(|| 1), 1);
        }
    }
    pirn::fiber_local! {
        static LAST: Cell<Option<Runs>> = const { Cell::new(None) };
        static FIRST: Cell<Option<Runs>> = const { Cell::new(None) }
    }
    let one = Dispatcher::io().limited(1);
    let own = one.clone();
    let fiber = one.spawn(move || {
        FIRST.set(Some(Runs(own.clone())));
        LAST.set(Some(Runs(own)));
    });
    let end = fiber.join_timeout(LONG);
    end.expect("a destructor waits for its own turn").unwrap();
    assert_eq!(one.run(|| 2), 2, "the turn has been given up");
}

/// What a fiber that does not run owns is dropped within the limit, too: its closure, and its
/// fiber-locals.
// Proves: L4.
#[test]
fn what_an_unrun_fiber_owns_is_dropped_within_the_limit() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    fn alone_inside() {
        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
        pirn::sleep(Duration::from_millis(20)).unwrap();
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
    struct Guarded(bool);
    impl Clone for Guarded {
        fn clone(&self) -> Guarded {
            Guarded(true)
        }
    }
    impl Drop for Guarded {
        fn drop(&mut self) {
            if self.0 {
                // The interrupt of its fiber must not end the wait.
                pirn::cancel::shield(alone_inside);
                DROPPED.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
    pirn::fiber_local! {
        static INHERITED: Guarded = Guarded(false), inherit;
    }
    let one = Dispatcher::new(2).unwrap().limited(1);
    pirn::run(|| {
        INHERITED.with(|_| ());
        pirn::scope(|s| {
            let (tx, rx) = channel::bounded::<()>(0);
            let first = s.spawn_on(&one, move || _ = rx.recv());
            let guarded = Guarded(true);
            let second = s.spawn_on(&one, move || _ = &guarded);
            let third = s.spawn_on(&one, alone_inside);
            second.cancel();
            drop(tx);
            first.join().unwrap();
            assert!(matches!(second.join(), Err(JoinError::NotRun)));
            third.join().unwrap();
        });
    });
    // One closure, and the values that three fibers have inherited.
    assert_eq!(DROPPED.load(Ordering::SeqCst), 4);
}

/// A destructor in a closure that does not run may use the dispatcher: its fiber has its turn, and
/// has left the queue.
// Proves: L4, L8.
#[test]
fn an_unrun_closure_may_use_its_own_dispatcher() {
    struct Uses(Dispatcher, fn(&Dispatcher));
    impl Drop for Uses {
        fn drop(&mut self) {
            (self.1)(&self.0);
        }
    }
    let runs: fn(&Dispatcher) = |one| one.run(|| ());
    let spawns: fn(&Dispatcher) = |one| one.spawn(|| ()).detach();
    let one = Dispatcher::io().limited(1);
    for (one, used) in [(one.clone(), runs), (one.queue_limit(1), spawns)] {
        let (tx, rx) = channel::bounded::<()>(0);
        let (begins, begun) = channel::bounded(1);
        let first = one.spawn(move || {
            begins.send(()).unwrap();
            _ = rx.recv();
        });
        begun.recv().unwrap();
        let uses = Uses(one.clone(), used);
        let second = one.spawn(move || drop(uses));
        second.cancel();
        drop(tx);
        first.join().unwrap();
        let end = second.join_timeout(LONG).expect("it waits for itself");
        assert!(matches!(end, Err(JoinError::NotRun)));
    }
}

/// A fiber that is refused takes no turn: what its closure owns may wait for one that has to have
/// its turn first.
// Proves: L4.
#[test]
fn a_refused_fiber_holds_back_no_other() {
    struct Joins(Option<JoinHandle<()>>);
    impl Drop for Joins {
        fn drop(&mut self) {
            let waited_for = self.0.take().expect("it is dropped once");
            drop(waited_for.join());
        }
    }
    let runtime = runtime(1);
    let (one, handle) = (runtime.dispatcher().limited(1), runtime.handle());
    let (begins, begun) = channel::bounded(1);
    let go = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&go);
    let first = one.spawn(move || {
        begins.send(()).unwrap();
        while !told.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
    });
    begun.recv().unwrap();
    let second = one.spawn(|| ());
    let ends = thread::spawn(move || runtime.shutdown(LONG).is_ok());
    eventually("it is closed", || handle.token().is_cancelled());
    let joins = Joins(Some(second));
    let refused = thread::spawn(move || drop(one.spawn(move || drop(joins))));
    // Until the refused closure is being dropped.
    thread::sleep(Duration::from_millis(50));
    go.store(true, Ordering::SeqCst);
    first.join().unwrap();
    eventually("the refused closure has been dropped", || {
        refused.is_finished()
    });
    assert!(ends.join().unwrap());
}
