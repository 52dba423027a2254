//! The state of a worker, for reports.
//!
//! Owns: the states, and one word of each worker that holds its state. Does not own: any decision;
//! only reports read it. Written by the worker when it rests and when it comes back, never between
//! two fibers.

use crate::shim::atomic::{AtomicU32, Ordering};

/// The state of a worker.
///
/// ```text
///             thread made                 finds nothing
///   Dead ───────────────────▶ Active ───────────────────▶ Spinning
///    ▲                        ▲ │ ▲ ◀──── finds something ─── │
///    │ no fiber of its own    │ │ │                           │ nothing to be seen
///    │ lives          activated │ └──────── woken ──── Asleep ◀┘
///    │                        │ │ retired
///    └──────────────── Draining ◀
/// ```
///
/// A worker that has been retired is `Draining` in any case. In debug builds each change is
/// checked, and one that is not in the picture ends the process with a message.
///
/// # Examples
/// ```
/// use pirn::diag::WorkerState;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// let state = runtime.run(|| runtime.metrics().workers[0].state);
/// assert_eq!(state, WorkerState::Active);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WorkerState {
    /// It has no thread: not yet, or no longer.
    Dead,
    /// It runs fibers, or is about to.
    Active,
    /// It looks for something to run, in the queues of other workers or by spinning for a little.
    Spinning,
    /// It sleeps, until it is woken or a timer is due.
    Asleep,
    /// It runs the fibers that have started on it to their ends, and takes nothing new.
    Draining,
}

impl WorkerState {
    /// All states.
    pub const ALL: [WorkerState; 5] = [
        WorkerState::Dead,
        WorkerState::Active,
        WorkerState::Spinning,
        WorkerState::Asleep,
        WorkerState::Draining,
    ];

    /// Returns true if a worker in this state may be in `next` after one change.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::WorkerState;
    ///
    /// assert!(WorkerState::Asleep.may_become(WorkerState::Active));
    /// assert!(!WorkerState::Dead.may_become(WorkerState::Asleep));
    /// ```
    #[must_use]
    pub const fn may_become(self, next: WorkerState) -> bool {
        use WorkerState::{Active, Asleep, Dead, Draining, Spinning};
        match self {
            Dead => matches!(next, Active),
            Active => matches!(next, Spinning | Asleep | Draining | Dead),
            Spinning => matches!(next, Active | Asleep | Draining),
            Asleep => matches!(next, Active),
            Draining => matches!(next, Active | Dead),
        }
    }
}

/// The state word of one worker.
#[derive(Debug)]
pub(in crate::sched) struct StateCell(AtomicU32);

impl StateCell {
    pub(in crate::sched) fn new() -> StateCell {
        StateCell(AtomicU32::new(WorkerState::Dead as u32))
    }

    pub(in crate::sched) fn get(&self) -> WorkerState {
        WorkerState::ALL[self.0.load(Ordering::Relaxed) as usize]
    }

    /// Sets the state. Its worker only. In debug builds, ends the process if the change is not
    /// legal.
    pub(in crate::sched) fn set(&self, next: WorkerState) {
        if let Err(before) = self.try_set(next) {
            eprintln!("pirn: a worker that is {before:?} cannot become {next:?}");
            std::process::abort();
        }
    }

    /// Sets the state; in debug builds only if the change is legal. Its worker only.
    ///
    /// # Errors
    /// The present state, which it stays in.
    fn try_set(&self, next: WorkerState) -> Result<(), WorkerState> {
        let before = self.get();
        if before == next {
            return Ok(());
        }
        if cfg!(debug_assertions) && !before.may_become(next) {
            return Err(before);
        }
        self.0.store(next as u32, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::WorkerState::{Active, Asleep, Dead, Draining, Spinning};
    use super::*;

    const LEGAL: [(WorkerState, WorkerState); 11] = [
        (Dead, Active),
        (Active, Spinning),
        (Active, Asleep),
        (Active, Draining),
        (Active, Dead),
        (Spinning, Active),
        (Spinning, Asleep),
        (Spinning, Draining),
        (Asleep, Active),
        (Draining, Active),
        (Draining, Dead),
    ];

    /// In a debug build the word takes legal changes, and no others.
    // Proves: C11.
    #[test]
    fn only_legal_changes_are_taken() {
        for from in WorkerState::ALL {
            for to in WorkerState::ALL {
                let legal = LEGAL.contains(&(from, to));
                assert_eq!(from.may_become(to), legal, "{from:?} to {to:?}");
                let cell = StateCell(AtomicU32::new(from as u32));
                let is_taken = legal || from == to || cfg!(not(debug_assertions));
                let expected = match is_taken {
                    true => (Ok(()), to),
                    false => (Err(from), from),
                };
                assert_eq!((cell.try_set(to), cell.get()), expected, "to {to:?}");
            }
        }
    }
}
