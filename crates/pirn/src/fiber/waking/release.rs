//! Ending many waits at once.
//!
//! Owns: the one loop by which a primitive wakes all its waiters. It claims a batch at a time under
//! the primitive's lock, and enqueues with the lock free. So many waiters neither lengthen the
//! critical section nor need memory.

use super::ticket::Wake;
use crate::shim::Lock;

/// Calls `claim` under the lock until it claims no waiter, and enqueues all that it claimed.
///
/// The lock is released between batches. So `claim` must ignore waiters that join meanwhile, or the
/// primitive must admit none by then.
pub(crate) fn wake_all<S>(lock: &Lock<S>, mut claim: impl FnMut(&mut S) -> Option<Wake>) {
    let mut full = true;
    while full {
        let mut batch: [Option<Wake>; BATCH] = [const { None }; BATCH];
        let mut state = lock.lock();
        for place in &mut batch {
            *place = claim(&mut state);
            if place.is_none() {
                break;
            }
        }
        drop(state);
        full = batch.last().is_some_and(Option::is_some);
        batch.into_iter().flatten().for_each(Wake::enqueue);
    }
}

/// Claims in one critical section: at about 10 ns each, well below the microsecond after which
/// spinners yield their core. Estimated, not measured.
const BATCH: usize = 32;
