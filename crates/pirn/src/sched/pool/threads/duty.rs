//! The duty of a worker: one word, which its thread follows (`sched::policy::standby` has the
//! changes).

use crate::shim::atomic::{AtomicU32, Ordering};

/// The role that a worker is to have.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u32)]
pub(in crate::sched) enum Duty {
    /// It has no thread, or one that no longer runs fibers.
    Dead = 0,
    /// It takes fresh fibers.
    Active = 1,
    /// It takes nothing new.
    Draining = 2,
}

/// The duty of one worker.
pub(in crate::sched) struct DutyWord(AtomicU32);

impl DutyWord {
    pub(in crate::sched) fn new() -> DutyWord {
        DutyWord(AtomicU32::new(Duty::Dead as u32))
    }

    /// Returns the duty, to a thread that does not follow it.
    pub(in crate::sched) fn get(&self) -> Duty {
        Duty::of(self.0.load(Ordering::Relaxed))
    }

    /// Returns the duty, to the worker.
    pub(in crate::sched) fn follow(&self) -> Duty {
        Duty::of(self.0.load(Ordering::Acquire))
    }

    /// Sets the duty of a worker that gets a thread, and returns the one before.
    pub(in crate::sched) fn assign(&self, duty: Duty) -> Duty {
        Duty::of(self.0.swap(duty as u32, Ordering::AcqRel))
    }

    /// Sets the duty again that it had before [`assign`](Self::assign): it gets no thread.
    pub(in crate::sched) fn restore(&self, before: Duty) {
        self.0.store(before as u32, Ordering::Release);
    }

    /// Makes a worker take fresh fibers that takes nothing new; false if that was not its duty.
    pub(in crate::sched) fn activate(&self) -> bool {
        self.change(Duty::Draining, Duty::Active)
    }

    /// Makes a worker take nothing new that takes fresh fibers; false if that was not its duty.
    pub(in crate::sched) fn retire(&self) -> bool {
        self.change(Duty::Active, Duty::Draining)
    }

    /// Ends a worker that takes nothing new; false if that was not its duty.
    pub(in crate::sched) fn end(&self) -> bool {
        self.change(Duty::Draining, Duty::Dead)
    }

    fn change(&self, from: Duty, to: Duty) -> bool {
        let (from, to) = (from as u32, to as u32);
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

impl Duty {
    fn of(word: u32) -> Duty {
        match word {
            0 => Duty::Dead,
            1 => Duty::Active,
            _ => Duty::Draining,
        }
    }
}
