//! The names.

/// A state in a fiber's life.
///
/// ```text
///                       ┌──────── yields ───────┐
///                       ▼                       │
///   Init ──starts──▶ Runnable ──dispatched──▶ Running ──ends──▶ Done, Cancelled
///     │                 ▲                     │    ▲
///     │               woken          is about │    │ woken before it has parked,
///  refused              │             to wait ▼    │ or by itself
///     ▼                 └───────── Parked ◀─ Parking
///  Cancelled
/// ```
///
/// A [report](crate::diag::FiberInfo) shows fibers that have started and not ended: `Runnable`,
/// `Running` and `Parked`. It counts those in `Init`. A fiber is `Parking` for some instructions;
/// if a claim comes in that time, it continues at once.
///
/// Debug builds check each step of each fiber. A step that is not in the picture ends the process
/// with a message.
///
/// # Examples
/// ```
/// use pirn::diag::State;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// runtime.run(|| {
///     drop(pirn::spawn(|| {}));
///     // The other fiber has not started, so it is not in the list.
///     let fibers = runtime.fibers();
///     assert_eq!(fibers.len(), 1);
///     assert_eq!(fibers[0].state, State::Running);
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum State {
    /// The fiber is spawned, and not started: it has no stack.
    Init,
    /// The fiber can run, and waits for a worker.
    Runnable,
    /// The fiber runs.
    Running,
    /// The fiber is about to wait, and may still be on its stack.
    Parking,
    /// The fiber waits.
    Parked,
    /// The fiber has ended, by its closure's return or panic.
    Done,
    /// The fiber has ended without having run: it had been cancelled, or was refused.
    Cancelled,
}

impl State {
    /// All states.
    pub const ALL: [State; 7] = [
        State::Init,
        State::Runnable,
        State::Running,
        State::Parking,
        State::Parked,
        State::Done,
        State::Cancelled,
    ];

    /// Returns true if a fiber in this state may be in `next` after one step.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::State;
    ///
    /// assert!(State::Parked.may_become(State::Runnable));
    /// assert!(!State::Done.may_become(State::Running));
    /// ```
    #[must_use]
    pub const fn may_become(self, next: State) -> bool {
        use State::{Cancelled, Done, Init, Parked, Parking, Runnable, Running};
        match self {
            Init => matches!(next, Runnable | Cancelled),
            Runnable => matches!(next, Running),
            Running => matches!(next, Runnable | Parking | Done | Cancelled),
            Parking => matches!(next, Running | Parked | Runnable),
            Parked => matches!(next, Runnable | Running),
            Done | Cancelled => false,
        }
    }

    /// Returns its index in [`ALL`](Self::ALL).
    #[cfg_attr(
        not(all(debug_assertions, not(pirn_parts))),
        allow(dead_code, reason = "the record's")
    )]
    pub(super) const fn number(self) -> u8 {
        self as u8
    }
}
