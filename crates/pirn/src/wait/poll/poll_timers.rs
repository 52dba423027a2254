//! The timers of futures.
//!
//! A future that waits for a point in time arms no timer. It notes the time and its waker with the
//! *poll timers* of the polling party. That party parks until the first note is due at the latest,
//! with the timer that its own wait has anyway, and calls the wakers of all due notes. The clock is
//! the party's, so virtual time is exact.
//!
//! A note is removed by the party when it is due or when the party stops polling, or by the future
//! when it is dropped or polled elsewhere; whichever is first.
//!
//! # Invariant
//! * DE1. The pointer in a thread's record is null, or that of a fiber with a poll in progress on
//!   the stack that the thread runs. `within_own` sets it for the poll and restores the previous
//!   value on every path out. A fiber that leaves its stack in a poll, because it unwinds, sets it
//!   to null (`yielding::unwinds`). A thread that drives fibers by hand does so with none
//!   (`polling::apart`).
//!
//! LIVENESS: no note is missed. A note is made inside a poll, and checked after it, by the same
//! party. A party that ends calls all remaining wakers: the future may be part of one that others
//! continue to poll, and they would not poll it without its wake.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use super::poll_stack;
use super::polling::{Inside, call};
use crate::base::mutant::mutant;
use crate::fiber::current::{self, Local, Polling};
use crate::fiber::jobs::promote_all;
use crate::shim::Lock;

/// The notes of one party.
pub(crate) struct PollTimers(Lock<Notes>);

struct Notes {
    wakers: BTreeMap<Key, Waker>,
    made: u64,
}

/// The key of a note: its due time, and a number among equal times.
pub(crate) type Key = (Instant, u64);

/// The slot for a party's timers, which are created at the first request. Dropped when the party
/// stops polling, and after the future it has polled.
#[derive(Default)]
pub(crate) struct PollTimersSlot(OnceCell<Arc<PollTimers>>);

impl PollTimers {
    fn new() -> PollTimers {
        PollTimers(Lock::new(Notes {
            wakers: BTreeMap::new(),
            made: 0,
        }))
    }

    /// Registers `waker` to be called at `due`.
    pub(crate) fn note(&self, due: Instant, waker: &Waker) -> Key {
        let waker = waker.clone();
        let mut notes = self.0.lock();
        notes.made += 1;
        let key = (due, notes.made);
        notes.wakers.insert(key, waker);
        key
    }

    /// Returns true if the note still exists and names `waker`.
    pub(crate) fn has(&self, key: Key, waker: &Waker) -> bool {
        let notes = self.0.lock();
        notes
            .wakers
            .get(&key)
            .is_some_and(|known| known.will_wake(waker))
    }

    /// Removes a note, and returns its waker; `None` if the note does not exist.
    pub(crate) fn strike(&self, key: Key) -> Option<Waker> {
        self.0.lock().wakers.remove(&key)
    }

    fn first(&self) -> Option<Instant> {
        let notes = self.0.lock();
        notes.wakers.first_key_value().map(|(key, _)| key.0)
    }

    /// Calls the wakers of the notes due at `now`, or of all; true if there were any.
    fn call_due(&self, now: Option<Instant>) -> bool {
        let mut any = false;
        loop {
            let mut notes = self.0.lock();
            let first = notes.wakers.first_entry();
            let Some(due) =
                first.filter(|note| now.is_none_or(|now| note.key().0 <= now))
            else {
                return any;
            };
            let waker = due.remove();
            drop(notes);
            any = true;
            call(waker);
        }
    }
}

impl PollTimersSlot {
    /// Returns the due time of the first note, if any.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.0.get()?.first()
    }

    /// Calls the wakers of the notes due at `now`; returns true if there were any.
    pub(crate) fn call_due(&self, now: Instant) -> bool {
        self.0
            .get()
            .is_some_and(|timers| timers.call_due(Some(now)))
    }

    /// Returns the timers of the polling party, or `None` if the poll is not by pirn.
    pub(crate) fn at_hand(local: &Local) -> Option<Arc<PollTimers>> {
        let poll_timers: *const PollTimersSlot = local.poll_timers().cast();
        // SAFETY: DE1: its frame lies below this one.
        let poll_timers = unsafe { poll_timers.as_ref() }?;
        let timers = poll_timers.0.get_or_init(|| Arc::new(PollTimers::new()));
        Some(Arc::clone(timers))
    }
}

/// Runs `poll`, in which the calling fiber does not wait, and then yields if its budget is spent.
/// Futures register their timers at `poll_timers`. (Not on a plain thread: it may block inside a
/// poll, and would not check its timers meanwhile.)
pub(crate) fn within_own<T>(poll_timers: &PollTimersSlot, poll: impl FnOnce() -> T) -> T {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return poll();
    };
    // JO1: the frames of the poll are on another stack, and nothing is promoted in it.
    promote_all(local);
    let _inside = Inside::outer(local);
    local.set_polling(Polling::Ours);
    local.set_poll_timers(ptr::from_ref(poll_timers).cast());
    poll_stack::run(local, fiber, poll)
}

impl Drop for PollTimersSlot {
    fn drop(&mut self) {
        if let Some(timers) = self.0.take()
            && !mutant!("poll_timers_forget_what_is_left")
        {
            timers.call_due(None);
        }
    }
}
