//! The places of a pool's threads.

use std::panic::Location;
use std::time::Duration;

use crate::Runtime;
use crate::fiber::{current, entry};
use crate::join::Fresh;
use crate::sched::pool::remote::Remote;
use crate::spawn::{JoinError, JoinHandle};

/// A member without a thread is claimed, and the pool becomes smaller before the claimant starts
/// that thread: the place is not free. A standby worker there would not take over the claimed
/// search, which would never end, so that no spawn would wake a worker any more.
#[test]
fn the_place_of_a_claimed_member_is_not_free() {
    let builder = Runtime::builder().workers(2).max_threads(3);
    let runtime = builder.build().expect("a runtime");
    let pool = runtime.handle().pool().clone();
    // As a spawn from outside does.
    assert_eq!(pool.idle.claim_this(1), Some(1));
    pool.resize(1);
    let place = {
        let _locked = pool.threads.lock();
        pool.free_place()
    };
    pool.wake(1);
    assert_eq!(place, Some(2));
}

/// A thread outside is held up between the admission of a fiber and its queue, until a shutdown
/// without time has ended the worker.
#[test]
fn a_fiber_that_is_queued_after_the_end_is_refused() {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let pool = runtime.handle().pool().clone();
    let fresh = Fresh::new(current::local(), Location::caller(), || ());
    let (fiber, joined) = fresh.into_parts();
    assert!(pool.admit());
    assert!(runtime.shutdown(Duration::ZERO).is_err(), "a fiber is left");
    let runs =
        |remote: &Remote| remote.thread.is_launched() && !remote.thread.has_ended();
    while pool.remotes.iter().any(runs) {
        std::thread::yield_now();
    }
    entry::refuse(
        pool.inject(fiber)
            .expect_err("no worker is left to take it"),
    );
    assert_eq!(pool.live(), 0);
    let joiner = JoinHandle::new(joined);
    let end = joiner
        .join_timeout(Duration::from_secs(60))
        .expect("it is lost");
    assert!(matches!(end, Err(JoinError::NotRun)), "{end:?}");
}
