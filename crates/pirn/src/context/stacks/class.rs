//! All stacks of one size: its reservations, and the stacks that are not in use.
//!
//! Stacks come back *warm*: they keep their pages and their record. The warm ones form a queue. The
//! last to come is taken first, since its pages are in the cache. The one that has been there
//! longest is the first to become cold, when there are more than `warm_max`. Then an eighth of them
//! becomes cold at once, so that this happens rarely.

use std::collections::VecDeque;

use super::extent::{Extent, Made, ReservedSlot, Run, Slot};
use super::layout::Layout;
use super::stack::Stack;

/// The first reservation of a class has about this many bytes of address space:
/// some 480 stacks of the default size. Arbitrary.
const FIRST_BYTES: usize = 128 * 1024 * 1024;

/// The fewest slots of a reservation, except for very large stacks. Arbitrary.
const FEWEST: usize = 64;

/// The most bytes of a reservation: some systems count address space against a limit. Arbitrary.
const LARGEST_BYTES: usize = 16 * 1024 * 1024 * 1024;

/// The most stacks that become cold at once. One by one, each costs 17 µs while another thread of
/// the program runs; 128 at a time cost 0.8 µs each, and more never less than 0.6 (measured). 128
/// take a tenth of a millisecond.
pub(super) const COOLED_AT_ONCE: usize = 128;

/// The part of the warm stacks that becomes cold at once, if that is less. Arbitrary.
const COOLED_SHARE: usize = 8;

/// One size class; lives under the pool's lock.
#[derive(Debug)]
pub(super) struct Class {
    layout: Layout,
    /// Its stacks do not count against `max_stacks`.
    beyond: bool,
    warm: VecDeque<Stack>,
    warm_max: usize,
    /// All but the last one are open to the end.
    extents: Vec<Extent>,
}

/// The result of a claim.
#[derive(Debug)]
pub(super) enum Claim {
    /// Ready for use.
    Warm(Stack),
    /// Open, without a record.
    Cold(Slot),
    /// A slot to be opened first.
    ReservedSlot(ReservedSlot),
    /// No stack: the class must grow.
    Nothing,
}

/// The way in which a class without a free stack grows.
#[derive(Debug)]
pub(super) enum Growth {
    /// Not at all: a stack has come back meanwhile.
    Needless,
    /// By opening more of its last reservation.
    Open(Run),
    /// By another reservation, number `number`, if possible of `slots` slots.
    Reserve { number: u32, slots: usize },
}

impl Class {
    pub(super) fn new(layout: Layout, warm_max: usize, beyond: bool) -> Class {
        Class {
            layout,
            beyond,
            warm: VecDeque::new(),
            warm_max,
            extents: Vec::new(),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn is_beyond(&self) -> bool {
        self.beyond
    }

    /// Returns whether there is a stack of this class, in use or not.
    pub(super) fn has_stacks(&self) -> bool {
        self.extents.iter().any(Extent::has_stacks)
    }

    /// Returns the slots that have been claimed so far, of each reservation.
    pub(super) fn made(&self) -> impl Iterator<Item = Made> {
        self.extents.iter().map(Extent::made)
    }

    /// Claims a stack: the warmest, else a cold one, else a new one.
    pub(super) fn claim(&mut self) -> Claim {
        if let Some(stack) = self.warm.pop_back() {
            return Claim::Warm(stack);
        }
        if let Some(slot) = self.extents.iter_mut().find_map(Extent::claim_cold) {
            return Claim::Cold(slot);
        }
        match self.extents.iter_mut().find_map(Extent::claim_reserved) {
            Some(reserved) => Claim::ReservedSlot(reserved),
            None => Claim::Nothing,
        }
    }

    /// Returns how to grow; `max` bounds the slots of the class.
    pub(super) fn growth(&self, max: usize) -> Growth {
        let has_slot = |extent: &Extent| extent.has_cold() || extent.has_reserved();
        if !self.warm.is_empty() || self.extents.iter().any(has_slot) {
            return Growth::Needless;
        }
        if let Some(run) = self.extents.last().and_then(Extent::closed_run) {
            return Growth::Open(run);
        }
        let reserved: usize = self.extents.iter().map(Extent::slots).sum();
        let first = FIRST_BYTES / self.layout.stride();
        let largest = LARGEST_BYTES / self.layout.stride();
        let slots = reserved
            .max(first)
            .min(largest)
            .min(max.saturating_sub(reserved));
        // Fits: each reservation is a mapping, and systems allow far fewer.
        Growth::Reserve {
            number: self.extents.len() as u32,
            // The bound counts stacks that are out; some are about to become cold.
            slots: slots.max(first.clamp(1, FEWEST)),
        }
    }

    /// Records that the last reservation is open up to `until`.
    pub(super) fn opened(&mut self, until: usize) {
        if let Some(last) = self.extents.last_mut() {
            last.set_opened(until);
        }
    }

    pub(super) fn add(&mut self, extent: Extent) {
        self.extents.push(extent);
    }

    /// Takes back a reserved slot that could not be opened.
    pub(super) fn unclaim(&mut self, reserved: ReservedSlot) {
        self.extents[reserved.place().extent as usize].unclaim(reserved);
    }

    /// Takes a stack back, warm.
    pub(super) fn rest_warm(&mut self, stack: Stack) {
        self.warm.push_back(stack);
    }

    /// Returns whether there are too many warm stacks.
    pub(super) fn is_too_warm(&self) -> bool {
        self.warm.len() > self.warm_max
    }

    /// Moves the stacks that have been unused longest to `slots`, if too many are warm: as many as
    /// `slots` has room for. The caller discards their pages and then calls [`Class::rest_cold`]
    /// for each.
    pub(super) fn cool(&mut self, slots: &mut Vec<Slot>) {
        let too_many = self.warm.len().saturating_sub(self.warm_max);
        if too_many == 0 {
            return;
        }
        let count = (too_many + self.warm_max / COOLED_SHARE)
            .min(self.warm.len())
            .min(slots.capacity() - slots.len());
        let extents = &self.extents;
        let slot = |stack: Stack| extents[stack.place().extent as usize].reclaim(stack);
        slots.extend(self.warm.drain(..count).map(slot));
    }

    pub(super) fn rest_cold(&mut self, slot: Slot) {
        self.extents[slot.place().extent as usize].rest_cold(slot);
    }

    /// Returns the reservations.
    pub(super) fn into_extents(self) -> Vec<Extent> {
        self.extents
    }
}
