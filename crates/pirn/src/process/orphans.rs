//! Children that were dropped before they ended.
//!
//! The system keeps the status of an ended child until it is collected. Each start and each drop of
//! a child first collects all of these. So uncollected children have always ended since the last
//! such call.

use std::process::Child;

use crate::shim::StaticLock;

static ORPHANS: StaticLock<Vec<Child>> = StaticLock::new(Vec::new());

/// Keeps `child`, unless it has ended.
pub(super) fn keep(mut child: Child) {
    if matches!(child.try_wait(), Ok(None)) {
        ORPHANS.lock().push(child);
    }
}

/// Collects the status of all that have ended.
pub(super) fn look_after() {
    let mut orphans = ORPHANS.lock();
    orphans.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}
