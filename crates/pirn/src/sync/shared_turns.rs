//! The order of turns when readers may share: the part of a reader-writer lock that does not depend
//! on the value.
//!
//! Turns are granted in order of arrival and handed over. The party that ends a turn grants the
//! next ones from the front of the queue, in the same critical section. No party overtakes a
//! waiting writer. Adjacent readers are served together.
//!
//! Rejected: barging, as in `turns`. It keeps a busy lock moving. But with two kinds of waiters it
//! lets a stream of readers pass a writer, and bounding that stream costs more than the switch that
//! it saves.
//!
//! # Invariants
//! * RT1. `writer` is not `FREE` iff a turn to write is out; `readers` is the number of turns to
//!   read that are out. If `writer` is not `FREE`, `readers` is 0.
//! * RT2. `writers` counts the writers that joined the queue and have neither been granted a turn
//!   nor reported that they gave up. A reader joins other readers without waiting only if it is 0.
//! * RT3. While no turn is out, no party waits. A waiter that is still linked then has timed out,
//!   or was interrupted.
//! * RT4. At most one party at a time upgrades: its turn to read becomes the turn to write. If it
//!   waits, it is the one in `upgrading`, counts in `readers` and in `writers`, and does not give
//!   up. No other waiter is granted a turn meanwhile.
//!
//! LIVENESS: the first waiter is granted a turn when that is possible. Only three events make it
//! possible: a turn ends, a turn to write becomes a turn to read, or a writer gives up. After each
//! of them the party that caused it calls `next` until no waiter can be served. A reader that gives
//! up blocks no other waiter, for one of three reasons. A turn to write is out. A writer in front
//! has given up and is about to call `next`. Or an upgrade waits, and no other waiter is granted a
//! turn before it (RT4). An upgrade waits only for other turns to read, and no reader joins them
//! (RT2). The party that ends the last of them finds the waiter in `upgrading`, which is under the
//! same lock.

use super::holder::{FREE, number};
use crate::base::mutant::mutant;
use crate::fiber::FiberId;
use crate::fiber::current::{self, Local};
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::polling::{forbids_waiting, refuse};
use crate::wait::{Attempt, How, Spec, Waited, wait_in, wake_all};

/// The turns that are out, and the waiters.
pub(super) struct SharedTurns {
    /// [`FREE`], or the number of the writer (`holder`).
    writer: u64,
    readers: usize,
    writers: usize,
    queue: WaitQueue<Ask>,
    /// The party that waits for its upgrade, if there is one, with its number.
    upgrading: WaitQueue<u64>,
}

/// The record of a waiter.
#[derive(Debug, Copy, Clone)]
struct Ask {
    kind: Kind,
    number: u64,
}

/// The kind of a turn.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

impl SharedTurns {
    pub(super) const fn new() -> Self {
        SharedTurns {
            writer: FREE,
            readers: 0,
            writers: 0,
            queue: WaitQueue::new(),
            upgrading: WaitQueue::new(),
        }
    }

    /// Returns true if a turn is out that excludes one of `kind`.
    pub(super) fn is_taken(&self, kind: Kind) -> bool {
        self.writer != FREE || (kind == Kind::Write && self.readers > 0)
    }

    /// Takes a turn if that is possible without waiting; returns true if so. `caller` is the number
    /// of the writer.
    #[inline]
    pub(super) fn try_take(&mut self, kind: Kind, caller: u64) -> bool {
        match kind {
            Kind::Read => {
                // RT3: if no turn is out, the writers that `writers` counts have given up.
                let free =
                    self.writer == FREE && (self.writers == 0 || self.readers == 0);
                self.readers += usize::from(free);
                free
            }
            Kind::Write => {
                let free = self.writer == FREE && self.readers == 0;
                if free {
                    self.writer = caller;
                }
                free
            }
        }
    }

    /// Takes a turn, waiting as `spec` says.
    ///
    /// # Errors
    /// How else the wait ended: `TimedOut` or `Interrupted`.
    #[inline]
    #[track_caller]
    pub(super) fn take(
        local: &Local,
        turns: &Lock<Self>,
        kind: Kind,
        spec: &Spec,
    ) -> Result<(), How> {
        let number = number(local);
        if forbids_waiting(local) {
            // If it were counted in `writers` and then refused, it would block readers
            // indefinitely.
            let taken = turns.lock().try_take(kind, number);
            return if taken { Ok(()) } else { refuse() };
        }
        let arrived = |turns: &mut Self| {
            if turns.try_take(kind, number) {
                return Attempt::Done(());
            }
            turns.writers += usize::from(kind == Kind::Write);
            Attempt::Wait(Ask { kind, number })
        };
        match wait_in(turns, |turns| &mut turns.queue, spec, arrived) {
            Waited::Done(()) | Waited::Ended(How::Woken(_), _) => Ok(()),
            Waited::Ended(how, ask) => {
                Self::give_up(turns, ask.kind);
                Err(how)
            }
        }
    }

    /// Called for a waiter that left the queue without a turn. If it was a writer, readers behind
    /// it may now be served.
    #[cold]
    fn give_up(turns: &Lock<Self>, kind: Kind) {
        if kind == Kind::Write {
            turns.lock().writers -= 1;
            if !mutant!("rwlock_leaver_wakes_none") {
                wake_all(turns, SharedTurns::next);
            }
        }
    }

    /// Ends a turn and grants turns to the waiters in front, as far as possible. Never suspends.
    #[inline]
    pub(super) fn free(turns: &Lock<Self>, kind: Kind) {
        let mut state = turns.lock();
        match kind {
            Kind::Read => state.readers -= 1,
            Kind::Write => state.writer = FREE,
        }
        // RT3: in the same critical section.
        let wake = state.next();
        let may_grant_more = state.writer == FREE;
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
            if may_grant_more {
                wake_all(turns, SharedTurns::next);
            }
        }
    }

    /// Converts the caller's turn to write into a turn to read, which others may share. Never
    /// suspends.
    pub(super) fn downgrade(turns: &Lock<Self>) {
        let mut state = turns.lock();
        state.writer = FREE;
        state.readers = 1;
        drop(state);
        wake_all(turns, SharedTurns::next);
    }

    /// Converts the caller's turn to read into the turn to write if it is the only one; returns
    /// true if so.
    pub(super) fn try_upgrade(turns: &Lock<Self>) -> bool {
        let number = number(current::local());
        turns.lock().upgrade_now(number)
    }

    /// Converts the caller's turn to read into the turn to write, waiting until it is the only one.
    /// `spec` sets no limit (RT4).
    #[track_caller]
    pub(super) fn upgrade(local: &Local, turns: &Lock<Self>, spec: &Spec) {
        let number = number(local);
        if forbids_waiting(local) {
            // If it were counted in `writers` and then refused, it would block readers
            // indefinitely.
            let taken = turns.lock().upgrade_now(number);
            if !taken {
                refuse();
            }
            return;
        }
        let arrived = |turns: &mut Self| {
            if turns.upgrade_now(number) {
                return Attempt::Done(());
            }
            turns.writers += 1;
            Attempt::Wait(number)
        };
        match wait_in(turns, |turns| &mut turns.upgrading, spec, arrived) {
            Waited::Done(()) | Waited::Ended(How::Woken(_), _) => (),
            Waited::Ended(how, _) => {
                unreachable!("an upgrade without a limit was {how:?}")
            }
        }
    }

    fn upgrade_now(&mut self, number: u64) -> bool {
        let alone = self.readers == 1;
        if alone {
            self.readers = 0;
            self.writer = number;
        }
        alone
    }

    /// Grants a turn to the first waiter, if possible. The caller enqueues the wake and calls
    /// again, until there is none.
    fn next(&mut self) -> Option<Wake> {
        if self.writer != FREE {
            return None;
        }
        if !self.upgrading.is_empty() && !mutant!("rwlock_upgrade_forgotten") {
            return self.next_upgrade();
        }
        let no_turn_is_out = self.readers == 0;
        let (readers, writers) = (&mut self.readers, &mut self.writers);
        let writer = &mut self.writer;
        self.queue.claim_first_if(
            |ask| no_turn_is_out || ask.kind == Kind::Read,
            |ask| match ask.kind {
                Kind::Read => *readers += 1,
                Kind::Write => {
                    *writer = ask.number;
                    *writers -= 1;
                }
            },
        )
    }

    /// Grants the turn to write to the party that upgrades, if its turn to read is the last.
    #[cold]
    fn next_upgrade(&mut self) -> Option<Wake> {
        if self.readers > 1 {
            return None;
        }
        let (readers, writers) = (&mut self.readers, &mut self.writers);
        let writer = &mut self.writer;
        self.upgrading.claim_first(|number| {
            *readers = 0;
            *writers -= 1;
            *writer = *number;
        })
    }
}

impl Describe for SharedTurns {
    fn describe(&self) -> ObjectKind {
        ObjectKind::RwLock {
            writing: self.writer != FREE,
            writer: FiberId::from_number(self.writer),
            readers: self.readers,
            waiting: self.queue.count() + self.upgrading.count(),
        }
    }
}
