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
/// `Running` and `Parked`. Those in `Init` are told by number. A fiber is `Parking` for some
/// instructions; where a claim comes in that time it goes on at once.
///
/// In debug builds each step of each fiber is looked at, and one that is not in the picture ends
/// the process with a message.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum State {
    /// Spawned, and not started: it has no stack.
    Init,
    /// It could run, and waits for a worker.
    Runnable,
    /// It runs.
    Running,
    /// It is about to wait, and may still be on its stack.
    Parking,
    /// It waits for something.
    Parked,
    /// It has ended, by its closure's return or panic.
    Done,
    /// It has ended without having run: it had been cancelled, or was refused.
    Cancelled,
}

impl State {
    /// All of them.
    pub const ALL: [State; 7] = [
        State::Init,
        State::Runnable,
        State::Running,
        State::Parking,
        State::Parked,
        State::Done,
        State::Cancelled,
    ];

    /// Whether a fiber in this state may be in `next` after one step.
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

    /// Its place in [`ALL`](Self::ALL).
    #[cfg_attr(
        not(all(debug_assertions, not(loom))),
        allow(dead_code, reason = "the record's")
    )]
    pub(super) const fn number(self) -> u8 {
        self as u8
    }
}
