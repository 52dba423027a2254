//! The promotion of all jobs of a fiber, before it leaves its stack.

use super::list::Jobs;
use crate::base::mutant::mutant;
use crate::fiber::current::Local;

/// Promotes all pending jobs of the running fiber, which is about to leave its stack, or
/// to stay on it without running (JO1).
#[inline(always)]
pub(crate) fn promote_all(local: &Local) {
    let jobs = local.jobs();
    if jobs.has_pending() && !mutant!("left_over_jobs") {
        promote_each(jobs);
    }
}

#[cold]
#[inline(never)]
fn promote_each(jobs: &Jobs) {
    while jobs.promote_oldest(false) {}
}
