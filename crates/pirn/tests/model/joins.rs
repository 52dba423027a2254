//! A fiber's end: trees, many joiners, threads that join, cancellation, detached fibers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::spawn::JoinError;
use pirn::{spawn, yield_now};

use crate::util::{explore, explore_with, thread};

fn tree(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let children = [depth - 1, depth - 1].map(|depth| spawn(move || tree(depth)));
    children
        .into_iter()
        .map(|child| child.join().expect("a number"))
        .sum()
}

#[test]
fn a_tree_of_joins() {
    explore_with(&[1, 2, 3], |world| {
        let runtime = world.runtime();
        assert_eq!(runtime.run(|| tree(3)), 8);
    });
}

#[test]
fn many_joiners_of_one_fiber() {
    explore(|world| {
        let runtime = world.runtime();
        let shared = Arc::new(runtime.spawn(|| {
            yield_now();
            7
        }));
        let joiners: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(&shared);
                runtime.spawn(move || shared.wait().expect("not cancelled"))
            })
            .collect();
        let outside = {
            let shared = Arc::clone(&shared);
            thread(move || shared.wait().expect("a thread is not cancelled"))
        };
        joiners
            .into_iter()
            .for_each(|joiner| joiner.join().expect("it waits"));
        outside.join().expect("the thread passes");
        let last = Arc::into_inner(shared).expect("it is the last");
        assert_eq!(last.join().expect("a number"), 7);
    });
}

#[test]
fn spawned_and_joined_by_threads() {
    explore(|world| {
        let runtime = world.runtime();
        let threads = [1, 2].map(|n| {
            let handle = runtime.handle();
            thread(move || {
                let child = handle.spawn(move || {
                    let grandchild = spawn(move || n * 10);
                    grandchild.join().expect("a number") + n
                });
                child.join().expect("a number")
            })
        });
        let sum: i32 = threads
            .into_iter()
            .map(|t| t.join().expect("it passes"))
            .sum();
        assert_eq!(sum, 33);
    });
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_outcome_without_a_joiner_is_dropped_once() {
    explore(|world| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let runtime = world.runtime();
        for _ in 0..3 {
            let counted = Counted(Arc::clone(&dropped));
            drop(runtime.spawn(move || counted));
        }
        drop(runtime);
        assert_eq!(dropped.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn cancelled_before_it_starts_or_while_it_waits() {
    explore(|world| {
        let runtime = world.runtime();
        let started = Arc::new(AtomicUsize::new(0));
        let child = {
            let started = Arc::clone(&started);
            runtime.spawn(move || {
                started.store(1, Ordering::Relaxed);
                pirn::spawn::park_interruptible().expect_err("no token comes");
                pirn::spawn::park_interruptible().expect_err("cancellation sticks");
            })
        };
        let canceller = {
            let handle = runtime.handle();
            let fiber = child.fiber().clone();
            // An unpark token is no cancellation: it may be present before the first wait.
            drop((handle, fiber));
            thread(yield_now)
        };
        child.cancel();
        match child.join() {
            Ok(()) => assert_eq!(started.load(Ordering::Relaxed), 1),
            Err(JoinError::NotRun) => assert_eq!(started.load(Ordering::Relaxed), 0),
            Err(other) => panic!("{other}"),
        }
        canceller.join().expect("the thread passes");
    });
}

#[test]
fn a_joiner_is_cancelled_while_the_fiber_ends() {
    explore(|world| {
        let runtime = world.runtime();
        let joiner = runtime.spawn(|| {
            let child = spawn(|| {
                yield_now();
                5
            });
            match child.join() {
                Ok(five) => assert_eq!(five, 5),
                Err(JoinError::Interrupted(_) | JoinError::NotRun) => {}
                Err(other) => panic!("{other}"),
            }
        });
        joiner.cancel();
        match joiner.join() {
            Ok(()) | Err(JoinError::NotRun) => {}
            Err(other) => panic!("{other}"),
        }
    });
}
