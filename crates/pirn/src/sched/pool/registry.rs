//! The pools of the process, for reports on all of them. Keeps none of them alive.

use std::sync::{Arc, Weak};

use crate::sched::pool::shared::Pool;
use crate::shim::StaticLock;

static POOLS: StaticLock<Vec<Weak<Pool>>> = StaticLock::new(Vec::new());

/// Enters a pool that has just been created.
pub(in crate::sched) fn enter(pool: &Arc<Pool>) {
    let mut pools = POOLS.lock();
    pools.retain(|pool| pool.strong_count() > 0);
    pools.push(Arc::downgrade(pool));
}

/// Returns the pools that have not ended, oldest first.
pub(crate) fn pools() -> Vec<Arc<Pool>> {
    // Unlocked before any of them is dropped: dropping the last reference runs a pool's destructor.
    let pools = POOLS.lock().clone();
    pools.iter().filter_map(Weak::upgrade).collect()
}
