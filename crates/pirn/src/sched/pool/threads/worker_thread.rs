//! The thread of a worker, as other threads see it: whether there is one, and what it is for.
//!
//! Does not own: when a thread starts or ends (`sched::policy::threads`).

use crate::sched::pool::threads::duty::DutyWord;
use crate::shim::atomic::{AtomicBool, AtomicU32, Ordering};
use crate::sys::ThreadProbe;

/// The thread of one worker.
pub(in crate::sched) struct WorkerThread {
    /// It exists. Written under the lock of `Threads`.
    launched: AtomicBool,
    /// The worker has completed its last step.
    ended: AtomicBool,
    /// Counted as a member by `idle`. Written by the worker; while it has no thread, under the
    /// lock of `Threads`.
    member: AtomicBool,
    pub(in crate::sched) duty: DutyWord,
    /// The kind of holder that the worker is, as a number; 0 if none (`sched::placement::holders`).
    /// Written under the lock of `Threads`.
    holder: AtomicU32,
    /// The number of fibers that run here and have announced that they block this thread.
    in_place: AtomicU32,
    /// How to ask the system about the thread. Written by the worker when it starts.
    pub(in crate::sched) probe: ThreadProbe,
}

impl WorkerThread {
    pub(in crate::sched) fn new() -> WorkerThread {
        WorkerThread {
            launched: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            member: AtomicBool::new(false),
            duty: DutyWord::new(),
            holder: AtomicU32::new(0),
            in_place: AtomicU32::new(0),
            probe: ThreadProbe::new(),
        }
    }

    /// Returns true if the thread exists; under the lock of `Threads`, or as a hint.
    pub(in crate::sched) fn is_launched(&self) -> bool {
        self.launched.load(Ordering::Relaxed)
    }

    /// Returns true if the thread exists, to a thread that may wake it then.
    pub(in crate::sched) fn can_be_woken(&self) -> bool {
        self.launched.load(Ordering::Acquire)
    }

    /// Sets whether the thread exists.
    pub(in crate::sched) fn set_launched(&self, launched: bool) {
        self.launched.store(launched, Ordering::Release);
    }

    /// Records that the worker has a new thread, which may not have begun yet.
    pub(in crate::sched) fn begin(&self) {
        self.ended.store(false, Ordering::Relaxed);
    }

    /// Records that the worker has completed its last step.
    pub(in crate::sched) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Returns true if the worker has completed its last step.
    pub(in crate::sched) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Returns true if the thread exists and has not completed the worker's last step, in one order
    /// with the sleeps of all threads.
    pub(in crate::sched) fn is_there_in_order(&self) -> bool {
        let ended = self.ended.load(Ordering::SeqCst);
        self.launched.load(Ordering::SeqCst) && !ended
    }

    /// Returns true if `idle` counts the worker as a member.
    pub(in crate::sched) fn is_member(&self) -> bool {
        self.member.load(Ordering::Relaxed)
    }

    /// Sets whether `idle` counts the worker as a member; returns what it was.
    pub(in crate::sched) fn set_member(&self, member: bool) -> bool {
        self.member.swap(member, Ordering::Relaxed)
    }

    /// Returns the kind of holder that the worker is; 0 if none.
    pub(in crate::sched) fn holder(&self) -> u32 {
        self.holder.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn set_holder(&self, kind: u32) {
        self.holder.store(kind, Ordering::Relaxed);
    }

    /// Counts a fiber that announces here that it blocks this thread.
    pub(in crate::sched) fn begin_in_place(&self) {
        self.in_place.fetch_add(1, Ordering::Release);
    }

    /// Ends what `begin_in_place` began.
    pub(in crate::sched) fn end_in_place(&self) {
        self.in_place.fetch_sub(1, Ordering::Release);
    }

    /// Returns true if fibers have announced here that they block this thread.
    pub(in crate::sched) fn blocks(&self) -> bool {
        self.in_place.load(Ordering::Acquire) > 0
    }

    /// As [`blocks`](Self::blocks), on this thread.
    pub(in crate::sched) fn blocks_here(&self) -> bool {
        self.in_place.load(Ordering::Relaxed) > 0
    }
}
