//! One timer: the entry that a waiter keeps on its stack while the wheel may fire it.
//!
//! Owns: the place in the wheel and the payload. Does not own: the links (`base::list`), or any
//! decision; only `Wheel` changes a timer.
//!
//! Life: idle → `Wheel::arm` → armed → `Wheel::disarm`, or fired by `Wheel::advance` →
//! idle again. The same timer may be armed any number of times.
//!
//! # Invariants
//! * E1. While a timer is armed it neither moves nor is dropped; the caller of `arm` guarantees
//!   that.
//! * E2. Every access is through a shared reference, and by the party that has the wheel to itself:
//!   its own thread, or the holder of the lock of a shared wheel. The fields are cells.

use std::cell::Cell;
use std::fmt;

use crate::base::list::Node;

/// The place of a timer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// Not armed.
    Nowhere,
    /// In this slot of this level.
    Slot { level: u8, slot: u8 },
    /// Armed for a time that the clock never reaches; in no slot.
    Never,
}

/// A timer that returns its payload when it fires. Pinned while armed (E1). Its links are owned by
/// the slot's list while it is linked.
pub(crate) type Timer<P> = Node<Entry<P>>;

/// The contents of a timer, apart from its links.
pub(crate) struct Entry<P> {
    /// The tick at which it is due; meaningful while armed. Written by the wheel.
    pub(super) due: Cell<u64>,
    /// Written by the wheel; read by the wheel and by `is_armed`.
    pub(super) place: Cell<Place>,
    /// Set once; read by the wheel when the timer fires.
    payload: P,
}

impl<P: Copy> Timer<P> {
    /// Returns an idle timer.
    pub(crate) fn new(payload: P) -> Self {
        Node::of(Entry {
            due: Cell::new(0),
            place: Cell::new(Place::Nowhere),
            payload,
        })
    }
}

impl<P: Copy> Entry<P> {
    /// True from `arm` until the timer is disarmed or fires.
    pub(crate) fn is_armed(&self) -> bool {
        self.place.get() != Place::Nowhere
    }

    /// Returns the payload that the timer passes on when it fires.
    pub(crate) fn payload(&self) -> P {
        self.payload
    }
}

impl<P> fmt::Debug for Entry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("due", &self.due.get())
            .field("place", &self.place.get())
            .finish_non_exhaustive()
    }
}
