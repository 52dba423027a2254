//! The decisions about the number of a pool's threads, counted by reason.
//!
//! Owns: the reasons and their counts. Does not own: the decisions (`sched::policy::scale`).

use std::fmt;

use crate::sched::pool::counters::Counter;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// The reason why the number of a runtime's threads was, or was not, changed.
///
/// # Examples
/// ```
/// use pirn::diag::ScaleReason;
///
/// assert_eq!(ScaleReason::AtLimit.to_string(), "at_limit");
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// let metrics = runtime.metrics();
/// let started = metrics.scale.iter().find(|(reason, _)| *reason == ScaleReason::Started);
/// assert_eq!(started, Some(&(ScaleReason::Started, 0)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScaleReason {
    /// Unchanged: no fiber waits to be started.
    NoWork,
    /// Unchanged: the fibers that seemed to wait had been started when they were counted.
    Nonpositive,
    /// Unchanged: the waiting fibers have not waited for long.
    Young,
    /// Unchanged: a worker slept, and was woken.
    IdleCapacity,
    /// Unchanged: no worker is stuck, or as many run as should.
    NotStuck,
    /// Unchanged: the maximum of threads is reached.
    AtLimit,
    /// Unchanged: the system could not create a thread.
    NoThread,
    /// One more: a thread was started.
    Started,
    /// One more: a thread that was about to end was called back.
    Recalled,
    /// One more: a thread for fibers of a spawn line that computes or blocks for long.
    Apart,
    /// One less to take new fibers: enough others make progress.
    SentAway,
    /// One less: a thread ended, for lack of fibers.
    Retired,
}

/// The reasons, in the order of their counts.
const REASONS: [ScaleReason; 12] = [
    ScaleReason::NoWork,
    ScaleReason::Nonpositive,
    ScaleReason::Young,
    ScaleReason::IdleCapacity,
    ScaleReason::NotStuck,
    ScaleReason::AtLimit,
    ScaleReason::NoThread,
    ScaleReason::Started,
    ScaleReason::Recalled,
    ScaleReason::Apart,
    ScaleReason::SentAway,
    ScaleReason::Retired,
];

/// The number of each decision, and whether it is logged.
#[derive(Default)]
pub(in crate::sched) struct Decisions {
    counts: [Counter; REASONS.len()],
    /// The lasting refusal, as its index among the reasons plus one; 0 if none lasts. Written where
    /// decisions are logged.
    refusal: AtomicUsize,
}

impl Decisions {
    pub(in crate::sched) fn count(&self, reason: ScaleReason) {
        self.counts[reason as usize].increment_shared();
    }

    /// True if the log reports a decision: each that changes the number of threads, and a refusal
    /// once, until the number changes or no more threads are wanted.
    pub(in crate::sched) fn is_news(&self, reason: ScaleReason) -> bool {
        let refusal = match reason {
            // May come between two refusals for the same reason.
            ScaleReason::Young | ScaleReason::Nonpositive => return false,
            ScaleReason::AtLimit | ScaleReason::NoThread => reason as usize + 1,
            _ => 0,
        };
        // ORDERING: Relaxed: only the log reads it.
        let before = self.refusal.swap(refusal, Ordering::Relaxed);
        match reason {
            ScaleReason::NoWork | ScaleReason::IdleCapacity | ScaleReason::NotStuck => {
                false
            }
            ScaleReason::AtLimit | ScaleReason::NoThread => before != refusal,
            _ => true,
        }
    }

    pub(in crate::sched) fn get(&self) -> Vec<(ScaleReason, u64)> {
        let count = |reason: ScaleReason| (reason, self.counts[reason as usize].get());
        REASONS.into_iter().map(count).collect()
    }
}

impl fmt::Display for ScaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScaleReason::NoWork => "no_work",
            ScaleReason::Nonpositive => "nonpositive",
            ScaleReason::Young => "young",
            ScaleReason::IdleCapacity => "idle_capacity",
            ScaleReason::NotStuck => "not_stuck",
            ScaleReason::AtLimit => "at_limit",
            ScaleReason::NoThread => "no_thread",
            ScaleReason::Started => "started",
            ScaleReason::Recalled => "recalled",
            ScaleReason::Apart => "apart",
            ScaleReason::SentAway => "sent_away",
            ScaleReason::Retired => "retired",
        })
    }
}
