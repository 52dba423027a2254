//! The promotion of all jobs of a fiber, before it leaves its stack.

use super::list::Jobs;
use crate::base::drop_guard::abort_on_unwind;
use crate::base::mutant::mutant;
use crate::fiber::current::Local;

/// Promotes all pending jobs of the running fiber, which is about to leave its stack, or
/// to stay on it without running.
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

/// Calls `f`, in which the running fiber yields, with its pending jobs taken along: they are in no
/// list meanwhile.
///
/// # Panics
/// If the fiber may migrate. The process ends if `f` panics, or leaves jobs in the list.
pub(crate) fn with_jobs_along(local: &Local, f: impl FnOnce()) {
    assert!(!local.is_free(), "jobs taken along stay on their worker");
    let jobs = local.jobs();
    let Some(along) = jobs.take_along() else {
        return f();
    };
    abort_on_unwind(|| {
        f();
        assert!(!jobs.has_pending(), "another fiber has left its jobs");
    });
    // SAFETY: taken above, by this fiber, which stays on its worker; what it has pushed since, it
    // has popped.
    unsafe { jobs.bring_back(along) };
}
