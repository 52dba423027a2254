//! Why a fiber keeps its thread: it computes, or its thread waits in the system.

use crate::sys::{Activity, ThreadProbe};

/// Why a fiber keeps its thread.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// It computes.
    Computes,
    /// Its thread waits in the system; in the call of this number, if that is known.
    Blocks(Option<u64>),
    /// The system does not say which of the two.
    Unknown,
}

/// A waiting thread that has used less than this part of the time counts as blocked. Arbitrary.
const SHARE: u64 = 4;

impl Cause {
    /// Returns why the thread has made no progress for `elapsed` nanoseconds, of which it has
    /// spent `spent` on a processor; `None` while the fault is not the fiber's: the system
    /// lets the thread wait for a processor, or a debugger has stopped it.
    ///
    /// `enough`: the processor time by which a fiber is known to compute.
    pub(super) fn find(
        activity: Option<Activity>,
        spent: Option<u64>,
        elapsed: u64,
        enough: u64,
    ) -> Option<Cause> {
        let (Some(activity), Some(spent)) = (activity, spent) else {
            return Some(Cause::Unknown);
        };
        match activity {
            Activity::Stopped => None,
            Activity::Waits if spent < elapsed / SHARE => Some(Cause::Blocks(None)),
            _ if spent >= enough => Some(Cause::Computes),
            Activity::Waits => Some(Cause::Blocks(None)),
            Activity::Runs => None,
        }
    }

    /// Adds the system call that a sample of the thread has found.
    pub(super) fn with_call(self, call: Option<u64>) -> Cause {
        match self {
            Cause::Blocks(before) => Cause::Blocks(call.or(before)),
            other => other,
        }
    }

    /// As [`find`](Self::find), of the thread that `probe` is about.
    pub(super) fn of(
        probe: &ThreadProbe,
        before: Option<u64>,
        elapsed: u64,
        enough: u64,
    ) -> Option<Cause> {
        let spent = probe.processor_time();
        let spent = spent.and_then(|now| Some(now.saturating_sub(before?)));
        let cause = Cause::find(probe.activity(), spent, elapsed, enough)?;
        Some(cause.with_call(probe.call()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Cause};

    #[test]
    fn causes_are_distinguished() {
        const MS: u64 = 1_000_000;
        let find = |activity, spent| {
            Cause::find(Some(activity), Some(spent * MS), 100 * MS, 50 * MS)
        };
        assert_eq!(find(Activity::Waits, 1), Some(Cause::Blocks(None)));
        assert_eq!(find(Activity::Waits, 30), Some(Cause::Blocks(None)));
        assert_eq!(find(Activity::Waits, 60), Some(Cause::Computes));
        assert_eq!(find(Activity::Runs, 60), Some(Cause::Computes));
        assert_eq!(find(Activity::Runs, 30), None, "waits for a processor");
        assert_eq!(find(Activity::Stopped, 1), None);
        let unknown = Cause::find(None, None, 100 * MS, 50 * MS);
        assert_eq!(unknown, Some(Cause::Unknown));
    }
}
