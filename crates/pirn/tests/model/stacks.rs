//! Stacks that run out and become available again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::channel;
use pirn::scope::TaskGroup;
use pirn::{spawn, yield_now};

use crate::util::{explore, explore_with, thread};

/// More fibers than stacks, from fibers and from outside: all run.
#[test]
fn fewer_stacks_than_fibers() {
    explore(|world| {
        let runtime = world.builder().max_stacks(2).build().expect("a runtime");
        let ran = Arc::new(AtomicU32::new(0));
        let body = |ran: &Arc<AtomicU32>| {
            let ran = Arc::clone(ran);
            move || {
                yield_now();
                ran.fetch_add(1, Ordering::Relaxed);
            }
        };
        let outside = {
            let (handle, body) = (runtime.handle(), body(&ran));
            thread(move || drop(handle.spawn(body)))
        };
        let spawner = {
            let bodies = [0, 1, 2].map(|_| body(&ran));
            runtime.spawn(move || bodies.map(|body| drop(spawn(body))))
        };
        spawner.join().expect("it spawns");
        outside.join().expect("it spawns");
        drop(runtime);
        assert_eq!(ran.load(Ordering::Relaxed), 4);
    });
}

/// A tree of fibers on fewer stacks than one of its branches needs: the joiner of a child without a
/// stack lends its own, whether it waits already or later. A stack that becomes available meanwhile
/// is used, and each child runs once.
// Proves: O10.
#[test]
fn children_on_the_stacks_of_their_parents() {
    fn tree(depth: u32, ran: &AtomicU32) {
        ran.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            pirn::scope(|s| {
                s.spawn(|| tree(depth - 1, ran));
                let second = s.spawn(|| {
                    yield_now();
                    tree(0, ran);
                });
                second.join().expect("it runs");
            });
        }
    }
    explore_with(&[1, 2], |world| {
        for stacks in [1, 2] {
            let runtime = world
                .builder()
                .max_stacks(stacks)
                .build()
                .expect("a runtime");
            let ran = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&ran);
            runtime
                .spawn(move || tree(2, &count))
                .join()
                .expect("it runs");
            drop(runtime);
            assert_eq!(ran.load(Ordering::Relaxed), 5);
        }
    });
}

/// The same for a group, which joins its fibers one by one; and a fiber that waits for a thread, on
/// a pooled stack or on one beyond the bound.
#[test]
fn members_on_the_stack_of_the_waiter() {
    explore(|world| {
        let runtime = world.builder().max_stacks(2).build().expect("a runtime");
        let (tx, rx) = channel::bounded::<u32>(0);
        let other = thread(move || tx.send(5).expect("it is received"));
        let owner = runtime.spawn(move || {
            let group = TaskGroup::new();
            group
                .spawn(move || rx.recv().expect("it is sent"))
                .expect("open");
            group.spawn(|| 2).expect("open");
            let mut sum = 0;
            while let Ok(Some(n)) = group.join_next() {
                sum += n.expect("it runs");
            }
            sum
        });
        assert_eq!(owner.join().expect("it runs"), 7);
        other.join().expect("it ends");
    });
}
