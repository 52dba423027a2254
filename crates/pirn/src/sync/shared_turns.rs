//! Whose turn it is when readers may share it: the part of a reader-writer lock that knows
//! nothing of the value.
//!
//! Turns are given in order of arrival and handed over: who frees a turn gives what has
//! become free to whoever stands first, in the same critical section. Nobody overtakes a
//! waiting writer. Neighboring readers go on together.
//!
//! Rejected: barging, as `turns` has it. It keeps a busy lock moving, but with two kinds of
//! waiters it lets a stream of readers pass a writer, and what bounds that stream costs more
//! than the switch that is saved.
//!
//! # Invariants
//! * RT1. `writing` is set iff one turn to write is out; `readers` is the number of turns to
//!   read that are out. A set `writing` means no `readers`.
//! * RT2. `writers` counts the writers that joined the queue and have neither been given a
//!   turn nor said that they gave up. A reader joins other readers without waiting only if
//!   it is 0.
//! * RT3. While no turn is out nobody waits: who is still linked has ended its wait by itself.
//!
//! LIVENESS: who waits first, and could go on, is given a turn. That comes about by three
//! events only: a turn is freed, a turn to write becomes one to read, a writer gives up.
//! After each of them whoever caused it calls `next` until that finds nobody. A reader that
//! gives up holds nobody up: it stood in front either because of a turn to write, during
//! which nobody is due, or because of a writer that has given up and is about to call `next`.

use super::holder::{FREE, number};
use crate::base::mutant::mutant;
use crate::fiber::FiberId;
use crate::fiber::current::Local;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::polling::{forbids_waiting, refuse};
use crate::wait::{Attempt, How, Spec, Waited, wait_in, wake_all};

/// Who has turns and who waits for one.
pub(super) struct SharedTurns {
    /// [`FREE`], or who writes (`holder`).
    writer: u64,
    readers: usize,
    writers: usize,
    queue: WaitQueue<Ask>,
}

/// What a waiter says of itself.
#[derive(Debug, Copy, Clone)]
struct Ask {
    kind: Kind,
    number: u64,
}

/// What somebody wants to do in their turn.
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
        }
    }

    /// Takes a turn if that needs no waiting; true if so. `caller` is who writes then.
    #[inline]
    pub(super) fn try_take(&mut self, kind: Kind, caller: u64) -> bool {
        match kind {
            Kind::Read => {
                // RT3: without a turn out, those that `writers` counts have given up.
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
    /// How the wait ended otherwise: `TimedOut` or `Interrupted`.
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
            // A writer that asks and does not wait would keep readers out for ever.
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

    /// What a waiter owes that has left the queue without a turn: if it was a writer,
    /// readers may have stood behind it who need not wait for anybody else.
    #[cold]
    fn give_up(turns: &Lock<Self>, kind: Kind) {
        if kind == Kind::Write {
            turns.lock().writers -= 1;
            if !mutant!("rwlock_leaver_tells_nobody") {
                wake_all(turns, SharedTurns::next);
            }
        }
    }

    /// Ends a turn and gives what is free to whoever stands first. Never suspends.
    #[inline]
    pub(super) fn free(turns: &Lock<Self>, kind: Kind) {
        let mut state = turns.lock();
        match kind {
            Kind::Read => state.readers -= 1,
            Kind::Write => state.writer = FREE,
        }
        // RT3: in the same critical section.
        let wake = state.next();
        let more = state.writer == FREE;
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
            if more {
                wake_all(turns, SharedTurns::next);
            }
        }
    }

    /// Makes the caller's turn to write one to read, which others may share. Never suspends.
    pub(super) fn downgrade(turns: &Lock<Self>) {
        let mut state = turns.lock();
        state.writer = FREE;
        state.readers = 1;
        drop(state);
        wake_all(turns, SharedTurns::next);
    }

    /// Gives a turn to the first that waits, if that can be; the caller enqueues the wake
    /// and calls again, until there is none.
    fn next(&mut self) -> Option<Wake> {
        if self.writer != FREE {
            return None;
        }
        let idle = self.readers == 0;
        let (readers, writers) = (&mut self.readers, &mut self.writers);
        let writer = &mut self.writer;
        self.queue.claim_first_if(
            |ask| idle || ask.kind == Kind::Read,
            |ask| match ask.kind {
                Kind::Read => *readers += 1,
                Kind::Write => {
                    *writer = ask.number;
                    *writers -= 1;
                }
            },
        )
    }
}

impl Describe for SharedTurns {
    fn describe(&self) -> ObjectKind {
        ObjectKind::RwLock {
            writing: self.writer != FREE,
            writer: FiberId::from_number(self.writer),
            readers: self.readers,
            waiting: self.queue.count(),
        }
    }
}
