//! The ring: a worker's last events, written by that worker alone. Any thread reads them meanwhile,
//! without a lock and without torn events.
//!
//! ```text
//!  slot = position mod capacity              stamp: 1 + the position of the words that are here,
//!  +-------+------+-------+------+-------+          or are about to be
//!  | stamp | time | fiber | what | place |
//!  +-------+------+-------+------+-------+    written: 1 + the last position that is whole
//! ```
//!
//! | owner, to record position p | reader |
//! |---|---|
//! | E1. stamp ← p + 1, relaxed | E4. written, acquire; then each p below it: |
//! | E2. each word, release | E5. each word, acquire |
//! | E3. written ← p + 1, release | E6. stamp, relaxed: p + 1, or the event is lost |
//!
//! No torn event: by E4 the reader sees all words of p, or later ones. If one of the words that
//! it loads at E5 is of a later position q, that load acquires what the owner did before, so
//! the stamp at E6 is at least q + 1. So what passes E6 is p's and nothing else. No fence is
//! needed, and on x86-64 every one of these accesses is a plain one.
//!
//! A reader never delays the owner. Events that are overwritten while it reads are lost to it, and
//! counted.
//!
//! Rejected: one sequence number for the whole ring, which a busy owner changes faster than a
//! reader reads it. Rejected: a queue that stops when it is full, since the last events before a
//! problem matter more than the first of the run.

use std::panic::Location;
use std::ptr;

use super::event::Event;
use crate::base::mutant::{mutant, or_relaxed};
use crate::base::pad::CachePadded;
use crate::shim::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Events that a worker's ring holds: 2.5 MiB. Arbitrary: some milliseconds of fibers that only
/// yield, minutes of ones that compute.
pub(crate) const CAPACITY: usize = 1 << 16;

/// One worker's last events.
#[derive(Debug)]
pub(crate) struct EventRing {
    slots: Box<[Slot]>,
    /// The number of recorded events. Written by the owner, read by readers.
    written: CachePadded<AtomicU64>,
}

/// One event, in words; see the table above.
#[derive(Debug)]
struct Slot {
    stamp: AtomicU64,
    time: AtomicU64,
    fiber: AtomicU64,
    what: AtomicU64,
    /// A `&'static Location`, or null.
    place: AtomicPtr<Location<'static>>,
}

impl EventRing {
    /// Returns an empty ring for the last `capacity` events, a power of two.
    pub(crate) fn new(capacity: usize) -> EventRing {
        assert!(capacity.is_power_of_two());
        EventRing {
            slots: (0..capacity).map(|_| Slot::new()).collect(),
            written: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Records `event`, in place of the oldest if the ring is full. Owner only.
    pub(crate) fn record(&self, event: &Event) {
        let position = self.written.load(Ordering::Relaxed);
        let slot = self.slot(position);
        if !mutant!("event_marked_late") {
            slot.stamp.store(position + 1, Ordering::Relaxed); // E1
        }
        // ORDERING: E2: pairs with the Acquire loads of E5.
        let release = or_relaxed!(Ordering::Release, "event_words_relaxed");
        slot.time.store(event.time, release);
        slot.fiber.store(event.fiber, release);
        slot.what.store(event.what(), release);
        let place = event
            .place
            .map_or(ptr::null_mut(), |place| ptr::from_ref(place).cast_mut());
        slot.place.store(place, release);
        if mutant!("event_marked_late") {
            slot.stamp.store(position + 1, Ordering::Relaxed);
        }
        // ORDERING: E3: pairs with the Acquire load of E4.
        let release = or_relaxed!(Ordering::Release, "event_written_relaxed");
        self.written.store(position + 1, release);
    }

    /// Returns the remaining events, oldest first, and the number of lost ones. Any thread.
    pub(crate) fn read(&self) -> (Vec<Event>, u64) {
        let written = self.written.load(Ordering::Acquire); // E4
        let first = written.saturating_sub(self.slots.len() as u64);
        let events: Vec<_> = (first..written).filter_map(|at| self.get(at)).collect();
        let lost = written - events.len() as u64;
        (events, lost)
    }

    fn get(&self, position: u64) -> Option<Event> {
        let slot = self.slot(position);
        let time = slot.time.load(Ordering::Acquire); // E5
        let fiber = slot.fiber.load(Ordering::Acquire);
        let what = slot.what.load(Ordering::Acquire);
        let place = slot.place.load(Ordering::Acquire);
        // ORDERING: E6: Relaxed: E5 has acquired all that must be seen here.
        let stamp = slot.stamp.load(Ordering::Relaxed);
        if stamp != position + 1 && !mutant!("event_unchecked") {
            return None;
        }
        let (kind, detail) = Event::of_what(what)?;
        Some(Event {
            time,
            kind,
            detail,
            fiber,
            // SAFETY: only ever null or made from a `'static` reference.
            place: unsafe { place.as_ref() },
        })
    }

    fn slot(&self, position: u64) -> &Slot {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

impl Slot {
    fn new() -> Slot {
        Slot {
            stamp: AtomicU64::new(0),
            time: AtomicU64::new(0),
            fiber: AtomicU64::new(0),
            what: AtomicU64::new(0),
            place: AtomicPtr::new(ptr::null_mut()),
        }
    }
}
