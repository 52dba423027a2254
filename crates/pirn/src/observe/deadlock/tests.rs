//! Passes of the search: which ones count, and which are incomplete.

use std::sync::Arc;
use std::thread;

use super::search::Search;
use crate::observe::report::{LinkWalk, begin_walk};
use crate::runtime::Deadlock;
use crate::sched::pool::shared::Pool;
use crate::sync::Mutex;
use crate::{Runtime, shim, spawn};

/// Returns a runtime that the detector of the process leaves alone, and its pool.
fn unwatched() -> (Runtime, Arc<Pool>) {
    let builder = Runtime::builder().workers(1).deadlock(Deadlock::Off);
    let runtime = builder.build().expect("a runtime");
    let pool = runtime.handle().pool().clone();
    (runtime, pool)
}

fn await_parks(runtime: &Runtime, parks: u64) {
    while runtime.metrics().total.fiber_parks < parks {
        thread::yield_now();
    }
}

/// A look at a process in which nothing runs does not rely on a pass that began before.
// Proves: P6.
#[test]
fn a_quiet_look_makes_a_pass_of_its_own() {
    let (runtime, pool) = unwatched();
    let first = runtime.spawn(spawn::park_interruptible);
    await_parks(&runtime, 1);
    let mut search = Search::new();
    search.begin([&pool].into_iter(), false);
    let mutex = Arc::new(Mutex::new(()));
    let taken = Arc::clone(&mutex);
    let stuck = runtime.spawn(move || {
        let _guard = taken.lock();
        drop(taken.lock_interruptible());
    });
    await_parks(&runtime, 2);
    search.begin([&pool].into_iter(), true);
    let complete = search.go_on(true);
    let seen = search.seen().count();
    let confirmed = search.take_confirmed().len();
    search.begin([&pool].into_iter(), true);
    search.go_on(true);
    let confirmed_by_two = search.take_confirmed().len();
    first.cancel();
    stuck.cancel();
    assert!(complete, "the worker did not answer within a second");
    assert_eq!((seen, confirmed, confirmed_by_two), (1, 0, 1));
}

/// A walk is incomplete if another asker has walked between two of its pieces.
#[test]
fn a_walk_notices_another_one() {
    const FIBERS: usize = 20_000;
    let (runtime, pool) = unwatched();
    let spawn = |_| runtime.spawn(spawn::park_interruptible);
    let fibers: Vec<_> = (0..FIBERS).map(spawn).collect();
    await_parks(&runtime, FIBERS as u64);
    let complete = |disturbed: bool| {
        let mut walk = LinkWalk::begin(&pool);
        walk.step(true);
        let more = !walk.is_done();
        drop(disturbed.then(|| begin_walk(&pool, shim::now())));
        while !walk.is_done() {
            walk.step(true);
        }
        (more, walk.end().1)
    };
    let (alone, disturbed) = (complete(false), complete(true));
    fibers.iter().for_each(|fiber| fiber.cancel());
    assert_eq!((alone, disturbed), ((true, true), (true, false)));
}
