//! Several runtimes, their idleness and their ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::channel::bounded;
use pirn::{Runtime, park, spawn, yield_now};
use shuttle::thread::JoinHandle;

use crate::util::{World, explore, explore_with, thread};

/// A shutdown limit that no scenario reaches.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// Fibers of two runtimes communicate over one channel.
// Proves: C9.
#[test]
fn two_runtimes_share_a_channel() {
    explore_with(&[1, 2], |world| {
        let (one, two) = (world.runtime(), world.runtime());
        let (tx, rx) = bounded(1);
        let sender =
            one.spawn(move || (1..=4).try_for_each(|n| tx.send(n)).expect("open"));
        let receiver = two.spawn(move || rx.iter().sum::<u32>());
        assert_eq!(receiver.join().expect("a sum"), 10);
        sender.join().expect("it sends");
    });
}

/// A fiber runs a closure on another runtime, and waits for it.
#[test]
fn a_fiber_visits_another_runtime() {
    explore(|world| {
        let (one, two) = (world.runtime(), world.runtime());
        let other = two.handle();
        let sum = one.run(|| {
            let mut sum = 1;
            sum += other.run(|| spawn(|| 2).join().expect("a number"));
            sum
        });
        assert_eq!(sum, 3);
    });
}

/// The runtime is dropped with fibers queued, running and asleep: all end first.
#[test]
fn dropped_with_fibers() {
    explore_with(&[1, 2, 3], |world| {
        let ran = Arc::new(AtomicU32::new(0));
        let runtime = world.runtime();
        for n in 0..3 {
            let ran = Arc::clone(&ran);
            runtime.spawn(move || {
                for _ in 0..n {
                    yield_now();
                }
                let counts = Arc::clone(&ran);
                spawn(move || counts.fetch_add(1, Ordering::Relaxed));
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
        drop(runtime);
        assert_eq!(ran.load(Ordering::Relaxed), 6);
    });
}

/// Starts a thread that spawns two fibers from outside, and joins them.
fn spawner(runtime: &Runtime) -> JoinHandle<()> {
    let handle = runtime.handle();
    thread(move || {
        let children = [0, 1].map(|_| handle.spawn(yield_now));
        // They have ended, or were refused.
        children.map(|child| drop(child.join()));
    })
}

/// A shutdown with fibers that are parked, queued, and being spawned from a thread.
#[test]
fn shut_down_with_fibers() {
    explore(|world| {
        let runtime = world.runtime();
        let parked = runtime.spawn(|| pirn::spawn::park_interruptible().is_err());
        let receiving = {
            let (tx, rx) = bounded::<()>(0);
            runtime.spawn(move || {
                let interrupted = rx.recv().is_err();
                drop(tx);
                interrupted
            })
        };
        let spawner = spawner(&runtime);
        runtime.shutdown(LONG).expect("every fiber is interrupted");
        for child in [parked, receiving] {
            assert!(child.join().unwrap_or(true), "no interrupt came");
        }
        spawner.join().expect("its fibers ended or were refused");
    });
}

/// A shutdown without time beside a thread that spawns: each fiber that is admitted ends, even if
/// it is queued when the last worker has ended.
#[test]
fn shut_down_without_time() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let spawner = spawner(&runtime);
        let _ = runtime.shutdown(Duration::ZERO);
        spawner.join().expect("its fibers ended or were refused");
    });
}

/// A runtime that one of its own fibers drops shuts down by itself.
#[test]
fn dropped_by_its_own_fiber() {
    explore(|world| {
        let runtime = world.runtime();
        let handle = runtime.handle();
        let last = handle.spawn(move || {
            let parked = spawn(|| pirn::spawn::park_interruptible().is_err());
            yield_now();
            drop(runtime);
            drop(parked);
        });
        last.join().expect("it ends");
    });
}

fn busy(world: World) -> (pirn::Runtime, Arc<AtomicU32>) {
    let runtime = world.runtime();
    let ran = Arc::new(AtomicU32::new(0));
    for _ in 0..2 {
        let ran = Arc::clone(&ran);
        runtime.spawn(move || {
            yield_now();
            let counts = Arc::clone(&ran);
            spawn(move || counts.fetch_add(1, Ordering::Relaxed));
        });
    }
    (runtime, ran)
}

/// A thread and a fiber wait until everything else has ended.
#[test]
fn idle_from_outside_and_inside() {
    explore(|world| {
        let (runtime, ran) = busy(world);
        let inside = {
            let (handle, ran) = (runtime.handle(), Arc::clone(&ran));
            runtime.spawn(move || {
                handle.wait_idle().expect("not cancelled");
                assert_eq!(ran.load(Ordering::Relaxed), 2, "not idle yet");
            })
        };
        runtime.wait_idle().expect("a thread is not cancelled");
        assert_eq!(ran.load(Ordering::Relaxed), 2, "not idle yet");
        inside.join().expect("it comes back");
    });
}

/// Two fibers wait for idleness, and then for each other.
#[test]
fn idle_for_two_that_join() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let handle = runtime.handle();
        runtime.run(|| {
            let other = {
                let handle = handle.clone();
                spawn(move || handle.wait_idle().expect("not cancelled"))
            };
            handle.wait_idle().expect("not cancelled");
            other.join().expect("it comes back too");
        });
    });
}

/// Workers park and wake for work from outside, one item at a time.
// Proves: C12.
#[test]
fn one_thing_at_a_time() {
    explore_with(&[1, 2, 3], |world| {
        let runtime = world.runtime();
        for n in 0..3 {
            assert_eq!(runtime.run(move || n + 1), n + 1);
        }
        let parker = runtime.spawn(park);
        parker.fiber().unpark();
        parker.join().expect("it has the token");
    });
}

/// Fibers of one spawn line that stay alive are assigned to the worker with fewer of them, while it
/// parks, sleeps, or has not started, and while the number of workers shrinks; all of them run.
#[test]
fn fibers_are_placed_on_workers_that_sleep() {
    explore_with(&[2, 3], |world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded::<u32>(0);
        let take = || {
            let rx = rx.clone();
            runtime.spawn(move || rx.recv().expect("one for each"))
        };
        let all: Vec<_> = (0..4).map(|_| take()).collect();
        let resizing = {
            let handle = runtime.handle();
            thread(move || handle.set_workers(std::num::NonZeroUsize::MIN))
        };
        (0..4).for_each(|n| tx.send(n).expect("open"));
        let sum: u32 = all
            .into_iter()
            .map(|one| one.join().expect("a number"))
            .sum();
        assert_eq!(sum, 6);
        resizing.join().expect("it returns");
    });
}
