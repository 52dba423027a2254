//! Joins of halves: which of them become fibers, and when, is drawn at each join.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::channel;
use pirn::par::join;
use pirn::yield_now;

use crate::util::{explore, explore_with};

fn leaves(depth: u32, yields: bool) -> u32 {
    if depth == 0 {
        if yields {
            yield_now();
        }
        return 1;
    }
    let (a, b) = join(|| leaves(depth - 1, yields), || leaves(depth - 1, !yields));
    a + b
}

/// Each half runs once, on any worker, and its result reaches its join.
#[test]
fn trees_of_joins() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        assert_eq!(runtime.run(|| leaves(3, true)), 8);
    });
}

/// A half that waits releases all pushed jobs to run.
#[test]
fn halves_wait_for_each_other() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        runtime.run(|| {
            let (tx, rx) = channel::bounded::<u32>(0);
            let ((got, also), sent) = join(
                || join(|| rx.recv(), || rx.recv()),
                || tx.send(1).and(tx.send(2)),
            );
            sent.expect("both are received");
            assert_eq!(got.unwrap() + also.unwrap(), 3);
        });
    });
}

/// A panic propagates when both halves have ended, and no value is lost.
#[test]
fn panics_wait_for_the_other_half() {
    explore(|world| {
        let runtime = world.runtime();
        let ended = AtomicU32::new(0);
        let half = |fails| {
            yield_now();
            ended.fetch_add(1, Ordering::Relaxed);
            if fails {
                resume_unwind(Box::new("on purpose"));
            }
        };
        for (left, right) in [(true, false), (false, true)] {
            let result = runtime.run(|| {
                catch_unwind(AssertUnwindSafe(|| join(|| half(left), || half(right))))
                    .map(drop)
            });
            assert!(result.is_err());
        }
        assert_eq!(ended.load(Ordering::Relaxed), 4);
    });
}

/// A fiber is cancelled while it joins: each wait of its halves ends, on any worker. Repeated,
/// because the cancellation must hit the moment in which the first half becomes a fiber.
#[test]
fn a_cancelled_fiber_is_cancelled_in_both_halves() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let fibers: Vec<_> = (0..4)
            .map(|_| {
                runtime.spawn(|| {
                    let (_tx, rx) = channel::bounded::<u32>(0);
                    let (a, b) = join(|| rx.recv(), || rx.recv());
                    assert!(a.is_err() && b.is_err());
                })
            })
            .collect();
        for fiber in fibers {
            fiber.cancel();
            // Either the join has not begun, or both halves have ended.
            drop(fiber.join());
        }
    });
}
