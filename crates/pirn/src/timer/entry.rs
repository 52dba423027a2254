//! One timer: the entry that a waiter keeps on its stack while the wheel may fire it.
//!
//! Owns: the links, the place in the wheel and the payload. Does not own: any decision; only
//! `Wheel` changes a timer.
//!
//! Life: idle → `Wheel::arm` → armed → `Wheel::disarm`, or fired by `Wheel::advance` →
//! idle again. The same timer may be armed any number of times.
//!
//! # Invariants
//! * E1. While a timer is armed it neither moves nor is dropped; the caller of `arm` guarantees
//!   that.
//! * E2. Every access is through a shared reference, and by the wheel's own thread: the
//!   fields are cells.

use std::cell::Cell;
use std::fmt;
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::base::list::{DoublyLinked, Links};

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

/// A timer that returns `payload` when it fires. Pinned while armed (E1).
pub(crate) struct Timer<P> {
    /// The tick at which it is due; meaningful while armed. Written by the wheel.
    pub(super) due: Cell<u64>,
    /// Written by the wheel; read by the wheel and by `is_armed`.
    pub(super) place: Cell<Place>,
    /// Neighbours in the slot's list; owned by that list while linked.
    links: Links<Timer<P>>,
    /// Set once; read by the wheel when the timer fires.
    payload: P,
}

impl<P: Copy> Timer<P> {
    /// Returns an idle timer.
    pub(crate) fn new(payload: P) -> Self {
        Timer {
            due: Cell::new(0),
            place: Cell::new(Place::Nowhere),
            links: Links::new(),
            payload,
        }
    }

    /// True from `arm` until the timer is disarmed or fires.
    pub(crate) fn is_armed(&self) -> bool {
        self.place.get() != Place::Nowhere
    }

    /// Returns the payload that the timer passes on when it fires.
    pub(crate) fn payload(&self) -> P {
        self.payload
    }
}

// SAFETY: always the same field, named without reading the entry; E2: this module never creates a
// unique reference to an entry.
unsafe impl<P> DoublyLinked for Timer<P> {
    #[inline]
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>> {
        // SAFETY: the offset stays within the entry that `node` points to.
        unsafe { node.byte_add(offset_of!(Timer<P>, links)) }.cast()
    }
}

impl<P> fmt::Debug for Timer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("due", &self.due.get())
            .field("place", &self.place.get())
            .finish_non_exhaustive()
    }
}
