//! Closures on their way to other workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::dispatcher::Dispatcher;
use pirn::{spawn, yield_now};

use crate::util::{explore, explore_with, thread};

/// Closures run one after the other, from any sender: a thread or a fiber of the pool.
// Proves: L4.
#[test]
fn turns_in_a_line() {
    explore(|world| {
        let runtime = world.runtime();
        let line = runtime.dispatcher().limited(1);
        let inside = Arc::new(AtomicU32::new(0));
        let work = |inside: &Arc<AtomicU32>| {
            let inside = Arc::clone(inside);
            move || {
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two at a time");
                yield_now();
                inside.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let sends = {
            let (line, work) = (line.clone(), [work(&inside), work(&inside)]);
            runtime.spawn(move || work.map(|work| line.spawn(work)))
        };
        let own = line.spawn(work(&inside));
        let cancelled = line.spawn(work(&inside));
        cancelled.cancel();
        own.join().expect("it had its turn");
        for other in sends.join().expect("they were sent") {
            other.join().expect("it had its turn");
        }
        let _ = cancelled.join();
    });
}

/// A queue of one: two senders fill it, one receiver empties it.
// Proves: L8.
#[test]
fn seats_in_a_queue() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let narrow = runtime.dispatcher().queue_limit(1);
        let ran = Arc::new(AtomicU32::new(0));
        let send = |narrow: &Dispatcher, ran: &Arc<AtomicU32>| {
            let ran = Arc::clone(ran);
            narrow.spawn(move || ran.fetch_add(1, Ordering::Relaxed))
        };
        let other = {
            let (narrow, ran) = (narrow.clone(), Arc::clone(&ran));
            thread(move || {
                for fiber in [(); 2].map(|()| send(&narrow, &ran)) {
                    fiber.join().expect("it ran");
                }
            })
        };
        let inside = {
            let (narrow, ran) = (narrow.clone(), Arc::clone(&ran));
            runtime.spawn(move || {
                for fiber in [(); 2].map(|()| send(&narrow, &ran)) {
                    fiber.join().expect("it ran");
                }
            })
        };
        inside.join().expect("both ran");
        other.join().expect("both ran");
        assert_eq!(ran.load(Ordering::Relaxed), 4);
    });
}

/// The last handle is dropped while fibers wait for their turn, and on a fiber of the dispatcher.
#[test]
fn the_last_handle_goes() {
    explore_with(&[1], |_| {
        let ran = Arc::new(AtomicU32::new(0));
        let own = Dispatcher::new(2).expect("a dispatcher");
        let line = own.limited(1);
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            line.spawn(move || {
                let ran = Arc::clone(&ran);
                spawn(move || ran.fetch_add(1, Ordering::Relaxed));
            });
        }
        let inside = line.clone();
        let last = own.spawn(move || drop(inside));
        drop(own);
        drop(line);
        last.join().expect("it ends");
        assert!(ran.load(Ordering::Relaxed) <= 2);
    });
}

/// A child of a scope on other workers decrements the scope's count there.
#[test]
fn a_scope_over_two_pools() {
    explore(|world| {
        let (here, there) = (world.runtime(), world.runtime());
        let place = there.dispatcher();
        let sum = AtomicU32::new(0);
        here.run(|| {
            pirn::scope(|s| {
                s.spawn(|| sum.fetch_add(1, Ordering::Relaxed));
                s.spawn_on(&place, || sum.fetch_add(2, Ordering::Relaxed));
            });
            assert_eq!(sum.load(Ordering::Relaxed), 3);
        });
    });
}

/// A fiber starts on its spawner's worker, at once.
// A caller that may migrate may have resumed on another worker before.
#[cfg(not(pirn_free))]
#[test]
fn unconfined_runs_at_once() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        runtime.run(|| {
            let ran = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&ran);
            let child = Dispatcher::unconfined().spawn(move || {
                count.store(1, Ordering::Relaxed);
                yield_now();
                7
            });
            assert_eq!(ran.load(Ordering::Relaxed), 1, "not at once");
            assert_eq!(child.join().expect("it ends"), 7);
        });
    });
}
