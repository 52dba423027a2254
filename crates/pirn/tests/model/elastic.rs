//! Workers that start and stop while fibers are spawned, stolen, parked and ended.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::blocking::block_in_place;
use pirn::channel::bounded;
use pirn::{spawn, yield_now};
use shuttle::sync::mpsc;

use crate::util::{World, explore, explore_in_time_with, explore_with, thread};

fn size(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("not 0")
}

/// Spawns fibers that spawn fibers; each of all these adds 1 to `ran`.
fn family(world: World, ran: &Arc<AtomicU32>) -> pirn::Runtime {
    let runtime = world.runtime();
    for _ in 0..2 {
        let ran = Arc::clone(ran);
        runtime.spawn(move || {
            for _ in 0..2 {
                let ran = Arc::clone(&ran);
                spawn(move || ran.fetch_add(1, Ordering::Relaxed));
            }
            yield_now();
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    runtime
}

/// The runtime shrinks while a worker has fresh fibers that another worker would steal, and grows
/// again: each fiber runs once, and the runtime ends.
// Proves: E9.
#[test]
fn drained_against_thieves() {
    explore_with(&[2, 3], |world| {
        let ran = Arc::new(AtomicU32::new(0));
        let runtime = family(world, &ran);
        runtime.set_workers(size(1));
        runtime.spawn(|| ());
        runtime.set_workers(size(2));
        drop(runtime);
        assert_eq!(ran.load(Ordering::Relaxed), 6);
    });
}

/// A worker without a thread is claimed for a fiber while the runtime shrinks and grows: it
/// becomes a member once, and later spawns wake a worker.
// Proves: E15.
#[test]
fn resized_around_a_claim() {
    explore(|world| {
        let runtime = world.runtime();
        runtime.run(|| ());
        let handle = runtime.handle();
        let other = thread(move || handle.spawn(|| 1).join().expect("it runs"));
        runtime.set_workers(size(1));
        runtime.set_workers(size(2));
        assert_eq!(other.join().expect("no panic"), 1);
        for n in 0..2 {
            assert_eq!(runtime.run(move || n), n);
        }
    });
}

/// Two threads change the size repeatedly at the same time.
// Proves: E15.
#[test]
fn resized_by_two() {
    explore(|world| {
        let ran = Arc::new(AtomicU32::new(0));
        let runtime = family(world, &ran);
        let handle = runtime.handle();
        let other = thread(move || {
            handle.set_workers(size(1));
            handle.set_workers(size(3));
        });
        runtime.set_workers(size(2));
        runtime.set_workers(size(1));
        assert_eq!(runtime.run(|| 1), 1);
        other.join().expect("it has resized");
        runtime.set_workers(size(1));
        runtime.wait_idle().expect("not cancelled");
        assert_eq!(ran.load(Ordering::Relaxed), 6);
    });
}

/// A fiber blocks its thread until a fiber that it has spawned there has run: a standby worker
/// takes over, and the returning worker finds consistent state.
// Proves: E12.
#[test]
fn a_stand_in_against_the_return() {
    // With stopped time the monitor does not run, and a standby worker that has just found nothing
    // is not activated.
    explore_in_time_with(&[1, 2], |world| {
        let runtime = world.builder().max_threads(4).build().expect("a runtime");
        let blocks = |n: u32| {
            move || {
                let (tx, rx) = mpsc::channel();
                let child = spawn(move || {
                    yield_now();
                    tx.send(n).expect("a receiver waits");
                });
                let got = block_in_place(|| rx.recv().expect("a number"));
                let after = spawn(|| 1).join().expect("it runs");
                child.join().expect("it has run");
                got + after
            }
        };
        let (one, two) = (runtime.spawn(blocks(1)), runtime.spawn(blocks(2)));
        assert_eq!(one.join().expect("no panic"), 2);
        assert_eq!(two.join().expect("no panic"), 3);
    });
}

/// A standby worker that found nothing is activated again for a fiber in the injector.
// Proves: E10.
#[test]
fn a_stand_in_that_is_called_back() {
    explore_in_time_with(&[1], |world| {
        let runtime = world.builder().max_threads(2).build().expect("a runtime");
        for _ in 0..3 {
            let (tx, rx) = mpsc::channel();
            let parent = runtime.spawn(move || {
                let child = spawn(move || tx.send(1).expect("a receiver waits"));
                let got = block_in_place(|| rx.recv().expect("a number"));
                child.join().expect("it has run");
                got
            });
            assert_eq!(parent.join().expect("no panic"), 1);
        }
    });
}

/// A standby worker retires when idle, is activated while it retires, or replaces a worker.
// Proves: E10.
#[test]
fn a_stand_in_that_goes() {
    explore_in_time_with(&[1, 2], |world| {
        let runtime = world.builder().max_threads(4).build().expect("a runtime");
        for round in 0..2 {
            let (tx, rx) = mpsc::channel();
            let child = runtime.spawn(move || {
                spawn(move || tx.send(1).expect("a receiver waits"));
                block_in_place(|| rx.recv().expect("a number"))
            });
            assert_eq!(child.join().expect("no panic"), 1);
            pirn::sleep(std::time::Duration::from_secs(1)).expect("a thread");
            runtime.set_workers(size(1 + 2 * round));
        }
        assert_eq!(runtime.run(|| 3), 3);
    });
}

/// A standby worker that has just found nothing retires while the runtime grows: it becomes a
/// member, so that two fibers that wait for each other on blocked threads both run.
#[test]
fn a_stand_in_that_becomes_a_member() {
    explore_with(&[1], |world| {
        let runtime = world.builder().max_threads(2).build().expect("a runtime");
        let ((give, children), (tx, rx)) = (mpsc::channel(), mpsc::channel());
        let parent = runtime.spawn(move || {
            let child = spawn(move || tx.send(1).expect("a receiver waits"));
            give.send(child).expect("a receiver waits");
            block_in_place(|| rx.recv().expect("a number"))
        });
        let child = children.recv().expect("it is spawned");
        child.join().expect("it runs");
        runtime.set_workers(size(2));
        assert_eq!(parent.join().expect("no panic"), 1);
        let ((to_one, by_one), (to_two, by_two)) = (mpsc::channel(), mpsc::channel());
        let meets = |to: mpsc::Sender<()>, by: mpsc::Receiver<()>| {
            move || {
                block_in_place(|| {
                    to.send(()).expect("the other one waits");
                    by.recv().expect("the other one sends");
                });
            }
        };
        let one = runtime.spawn(meets(to_two, by_one));
        let two = runtime.spawn(meets(to_one, by_two));
        one.join().expect("they meet");
        two.join().expect("they meet");
    });
}

/// A runtime without workers: one thread drives, another spawns and wakes.
// Proves: F11.
#[test]
fn driven_by_hand() {
    explore_with(&[1], |world| {
        let runtime = world.builder().workers(0).build().expect("a runtime");
        runtime.run_until_idle();
        let (tx, rx) = bounded(1);
        let handle = runtime.handle();
        let sender = thread(move || {
            let fiber = handle.spawn(|| 5);
            tx.send(2).expect("open");
            drop(tx);
            fiber
        });
        let sum = runtime.run(|| rx.iter().sum::<u32>());
        assert_eq!(sum, 2);
        let fiber = sender.join().expect("it has sent");
        runtime.wait_idle().expect("a thread");
        assert_eq!(fiber.join().expect("it has run"), 5);
    });
}
