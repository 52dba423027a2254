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

    /// Sets the state. Its worker only.
    pub(in crate::sched) fn set(&self, next: WorkerState) {
        let before = self.get();
        if before == next {
            return;
        }
        if cfg!(debug_assertions) && !before.may_become(next) {
            eprintln!("pirn: a worker that is {before:?} cannot become {next:?}");
            std::process::abort();
        }
        self.0.store(next as u32, Ordering::Relaxed);
    }
}
