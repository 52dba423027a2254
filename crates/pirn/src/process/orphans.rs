//! Children that nobody holds any more and that have not ended.
//!
//! The system keeps the status of a child that has ended until somebody asks for it. So whoever
//! starts a child, or drops one, asks after all of these first: there are never more that have
//! ended than have done so since.

use std::process::Child;

use crate::shim::StaticLock;

static ORPHANS: StaticLock<Vec<Child>> = StaticLock::new(Vec::new());

/// Keeps `child`, unless it has ended.
pub(super) fn keep(mut child: Child) {
    if matches!(child.try_wait(), Ok(None)) {
        ORPHANS.lock().push(child);
    }
}

/// Asks after all of them.
pub(super) fn look_after() {
    let mut orphans = ORPHANS.lock();
    orphans.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}
