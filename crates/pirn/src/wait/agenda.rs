//! Agendas: the timers of futures.
//!
//! A future that waits for a moment arms nothing. It notes on the *agenda* of whoever polls it when it
//! wants to be polled, and by which waker; that party parks until the first note is due at the
//! latest, on the timer that its own wait has anyway, and calls the wakers of all that are. The
//! clock is the party's, so virtual time is exact.
//!
//! Owns: what is noted, and the way from a poll to the agenda of its party. Does not own: the timer
//! (`park`), nor the future (`future::sleep`).
//!
//! A note is taken off by whoever comes first: the party when it is due, the future when it is
//! dropped or polled elsewhere, and the party when it polls no more.
//!
//! # Invariant
//! * DE1. The desk in a thread's record is null, or that of a fiber whose poll is under way on the stack that
//!   the thread runs. `polling` sets it for the poll and sets back what was there before, on every way
//!   out; a fiber that leaves its stack amid a poll, since it unwinds, sets it to null (`park`); and whoever
//!   drives fibers by hand does so with none (`polling::apart`).
//!
//! LIVENESS: no moment is missed. A note is made inside a poll, and looked for after it, by the same party.
//! A party that ends calls all wakers that are left: the future may be part of one that goes on to be
//! polled by others, who would not poll it without its wake.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use super::polling::call;
use crate::base::mutant::mutant;
use crate::fiber::current::Local;
use crate::shim::Lock;

/// What is due when, for one party.
pub(crate) struct Agenda(Lock<Notes>);

struct Notes {
    wakers: BTreeMap<Key, Waker>,
    made: u64,
}

/// A note: when it is due, and which of those.
pub(crate) type Key = (Instant, u64);

/// Where a party's agenda lies once somebody has asked for it. Dropped when the party polls no more, and
/// after what it has polled.
#[derive(Default)]
pub(crate) struct Desk(OnceCell<Arc<Agenda>>);

impl Agenda {
    fn new() -> Agenda {
        Agenda(Lock::new(Notes {
            wakers: BTreeMap::new(),
            made: 0,
        }))
    }

    /// Has `waker` be called at `due`.
    pub(crate) fn note(&self, due: Instant, waker: &Waker) -> Key {
        let waker = waker.clone();
        let mut notes = self.0.lock();
        notes.made += 1;
        let key = (due, notes.made);
        notes.wakers.insert(key, waker);
        key
    }

    /// Whether the note is still there, and names `waker`.
    pub(crate) fn has(&self, key: Key, waker: &Waker) -> bool {
        let notes = self.0.lock();
        notes
            .wakers
            .get(&key)
            .is_some_and(|known| known.will_wake(waker))
    }

    /// Takes a note off, if it is there.
    pub(crate) fn strike(&self, key: Key) {
        let waker = self.0.lock().wakers.remove(&key);
        // Code of the user's, with the lock free.
        drop(waker);
    }

    fn first(&self) -> Option<Instant> {
        let notes = self.0.lock();
        notes.wakers.first_key_value().map(|(key, _)| key.0)
    }

    /// Calls the wakers of what is due at `now`, or of everything; says whether there were any.
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

impl Desk {
    /// When the first note is due; none if there is none.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.0.get()?.first()
    }

    /// Calls the wakers of what is due at `now`; says whether there were any.
    pub(crate) fn call_due(&self, now: Instant) -> bool {
        self.0
            .get()
            .is_some_and(|agenda| agenda.call_due(Some(now)))
    }

    /// The agenda of whoever polls; none if it is not one of our parties.
    pub(crate) fn at_hand(local: &Local) -> Option<Arc<Agenda>> {
        let desk: *const Desk = local.desk().cast();
        // SAFETY: DE1: its frame lies below this one.
        let desk = unsafe { desk.as_ref() }?;
        let agenda = desk.0.get_or_init(|| Arc::new(Agenda::new()));
        Some(Arc::clone(agenda))
    }

    /// For `Local::set_desk`.
    pub(super) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(agenda) = self.0.take()
            && !mutant!("agenda_forgets_what_is_left")
        {
            agenda.call_due(None);
        }
    }
}
