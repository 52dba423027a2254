//! The places of a pool's threads.

use crate::Runtime;

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
        let _roster = pool.threads.lock();
        pool.free_place()
    };
    pool.wake(1);
    assert_eq!(place, Some(2));
}
