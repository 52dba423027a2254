//! One reservation of address space, cut into slots of one layout.
//!
//! Reserved memory traps until it is opened. Where guards can be installed, slots are opened in
//! runs, so a reservation is two mappings for any number of stacks. Elsewhere each slot opens all
//! but its guard and costs two mappings.
//!
//! A slot is *reserved* until it is first claimed, then *out* or unused in its class. An unused
//! slot without its pages is *cold*: only a bit records it, since its record was in these pages.
//! The lowest cold slot is taken first, which keeps page tables few.
//!
//! # Invariants
//! * EX1. `base` starts a mapping of `slots` strides that lives until `release`.
//! * EX2. Slots below `opened` are readable and writable above their guards, unless they lie
//!   in `unopened` or are reserved under [`Guarding::Protect`]; a slot is handed out only open
//!   and guarded.
//! * EX3. A slot is cold, reserved, or held by exactly one value: a [`ReservedSlot`], a [`Slot`] or
//!   a `Stack` (SK1). None of them can be copied, so the owner of one may use the memory as it
//!   allows.

use std::io;
use std::ptr::NonNull;

use super::layout::Layout;
use super::region::Region;
use super::stack::{Place, Stack, StackTop};
use crate::context::os::{self, Guarding};
use crate::context::valgrind;

/// The least number of slots that are opened at once; one system call then serves that many stacks.
/// Arbitrary; no measurement yet.
const OPENED_AT_ONCE: usize = 64;

/// A reservation, owned by its size class.
#[derive(Debug)]
pub(super) struct Extent {
    base: NonNull<u8>,
    layout: Layout,
    slots: usize,
    guarding: Guarding,
    /// Number of the class and, within it, of this reservation.
    number: (u32, u32),
    /// Slots `0..made` have been claimed at least once.
    made: usize,
    /// Slots `0..opened` may be claimed (EX2).
    opened: usize,
    /// Claimed slots that could not be opened: the next virgins.
    unopened: Vec<ReservedSlot>,
    /// Bit `i` is set iff slot `i` is cold.
    cold: Vec<u64>,
    cold_len: usize,
    /// No word of `cold` below this one has a bit set.
    cold_from: usize,
    region: &'static Region,
}

// SAFETY: EX1: the pointer points to a mapping that belongs to the process, not to a thread.
unsafe impl Send for Extent {}

/// The slots of a reservation that have been claimed at least once: the lowest ones.
#[derive(Debug)]
pub(super) struct Made {
    /// The address of the first one.
    pub(super) base: usize,
    pub(super) slots: usize,
}

/// A slot that is claimed and open, without a handle.
#[derive(Debug)]
pub(super) struct Slot {
    start: NonNull<u8>,
    layout: Layout,
    place: Place,
}

// SAFETY: EX3: the only claim to the slot, on any thread.
unsafe impl Send for Slot {}

/// A slot that is claimed and not yet open.
#[derive(Debug)]
pub(super) struct ReservedSlot {
    slot: Slot,
    guarding: Guarding,
}

/// Memory to be opened, outside the pool's lock, by [`Run::open`].
#[derive(Debug)]
pub(super) struct Run {
    start: NonNull<u8>,
    stride: usize,
    /// The slots from here to `until`.
    from: usize,
    until: usize,
}

impl Extent {
    /// Reserves address space for `slots` stacks, as reservation number `number` of its class.
    ///
    /// # Errors
    /// The error of the system if it has no such address space.
    pub(super) fn reserve(
        layout: Layout,
        slots: usize,
        guarding: Guarding,
        number: (u32, u32),
    ) -> io::Result<Extent> {
        let len = slots
            .checked_mul(layout.stride())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let base = os::reserve(len)?;
        Ok(Extent {
            base,
            layout,
            slots,
            guarding,
            number,
            made: 0,
            opened: match guarding {
                Guarding::Install => 0,
                Guarding::Protect => slots,
            },
            unopened: Vec::new(),
            cold: vec![0; slots.div_ceil(64)],
            cold_len: 0,
            cold_from: 0,
            region: Region::publish(base.as_ptr().expose_provenance(), layout, slots),
        })
    }

    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    pub(super) fn has_cold(&self) -> bool {
        self.cold_len > 0
    }

    pub(super) fn has_reserved(&self) -> bool {
        self.made < self.opened || !self.unopened.is_empty()
    }

    /// Returns whether a slot has been opened for a stack so far.
    pub(super) fn has_stacks(&self) -> bool {
        self.made > self.unopened.len()
    }

    /// Returns the slots that have been claimed so far.
    pub(super) fn made(&self) -> Made {
        Made {
            base: self.base.addr().get(),
            slots: self.made,
        }
    }

    /// Claims the lowest cold slot.
    pub(super) fn claim_cold(&mut self) -> Option<Slot> {
        if self.cold_len == 0 {
            return None;
        }
        let word = (self.cold_from..self.cold.len()).find(|&w| self.cold[w] != 0)?;
        let bit = self.cold[word].trailing_zeros() as usize;
        self.cold[word] &= !(1 << bit);
        self.cold_from = word;
        self.cold_len -= 1;
        Some(self.slot(word * 64 + bit))
    }

    /// Claims a slot that was never used.
    pub(super) fn claim_reserved(&mut self) -> Option<ReservedSlot> {
        if let Some(reserved) = self.unopened.pop() {
            return Some(reserved);
        }
        if self.made == self.opened {
            return None;
        }
        let slot = self.slot(self.made);
        self.made += 1;
        self.region.set_made(self.made);
        Some(ReservedSlot {
            slot,
            guarding: self.guarding,
        })
    }

    /// Takes back a reserved slot that could not be opened.
    pub(super) fn unclaim(&mut self, reserved: ReservedSlot) {
        self.unopened.push(reserved);
    }

    /// Turns a handle back into the slot.
    pub(super) fn reclaim(&self, stack: Stack) -> Slot {
        self.slot(stack.place().slot as usize)
    }

    /// Records that the pages of a slot have been discarded.
    pub(super) fn rest_cold(&mut self, slot: Slot) {
        let index = slot.place.slot as usize;
        self.cold[index / 64] |= 1 << (index % 64);
        self.cold_from = self.cold_from.min(index / 64);
        self.cold_len += 1;
    }

    /// Returns the run to be opened next: as many slots as are open already, so that system calls
    /// become rare; `None` if all are open.
    pub(super) fn closed_run(&self) -> Option<Run> {
        let more = self
            .opened
            .max(OPENED_AT_ONCE)
            .min(self.slots - self.opened);
        (more > 0).then(|| Run {
            start: self.start(self.opened),
            stride: self.layout.stride(),
            from: self.opened,
            until: self.opened + more,
        })
    }

    pub(super) fn set_opened(&mut self, opened: usize) {
        self.opened = opened;
    }

    /// Unmaps the reservation.
    ///
    /// # Safety
    /// 1. No slot is out, and no claim or handle to a resting one will be used again.
    pub(super) unsafe fn release(self) {
        self.region.vacate();
        // SAFETY: EX1, 1: the whole mapping, which is no longer used.
        unsafe { os::release(self.base, self.slots * self.layout.stride()) };
    }

    /// Creates the claim to a slot after its last claim has ended (EX3).
    fn slot(&self, index: usize) -> Slot {
        let (class, extent) = self.number;
        // Fits: 2^32 slots of the smallest layout exceed the address space.
        let place = Place {
            class,
            extent,
            slot: index as u32,
        };
        Slot {
            start: self.start(index),
            layout: self.layout,
            place,
        }
    }

    fn start(&self, index: usize) -> NonNull<u8> {
        debug_assert!(index < self.slots);
        // SAFETY: EX1: the slot lies within the mapping.
        unsafe { self.base.add(index * self.layout.stride()) }
    }
}

impl Run {
    /// Makes the memory readable and writable, or that of the first slot if the system refuses
    /// more: the rest of the process needs memory too. Returns the new value of `opened`.
    ///
    /// # Errors
    /// The error of the system if it has no memory for one slot.
    pub(super) fn open(&self) -> io::Result<usize> {
        let open = |until: usize| {
            let len = (until - self.from) * self.stride;
            // SAFETY: EX1, EX2: within the mapping, and no slot is claimed there yet.
            unsafe { os::open(self.start, len) }.map(|()| until)
        };
        open(self.until).or_else(|_| open(self.from + 1))
    }
}

impl ReservedSlot {
    pub(super) fn place(&self) -> Place {
        self.slot.place
    }

    /// Opens and guards the slot.
    ///
    /// # Errors
    /// The slot, and the system's error if it has no memory or no mapping left.
    pub(super) fn open(self) -> Result<Slot, (ReservedSlot, io::Error)> {
        let Slot { start, layout, .. } = self.slot;
        let limit = self.slot.limit();
        let opened = match self.guarding {
            // Locked memory cannot take an installed guard, but can be closed. SAFETY: EX1, EX3:
            // the low end of a slot that only this value may touch.
            Guarding::Install => unsafe { os::install_guard(start, layout.guard) }
                // SAFETY: as above.
                .or_else(|_| unsafe { os::close(start, layout.guard) }),
            // SAFETY: EX1, EX3: the rest of a slot that only this value may touch.
            Guarding::Protect => unsafe { os::open(limit, layout.size) },
        };
        match opened {
            Ok(()) => {
                valgrind::register_stack(limit.addr().get(), layout.size);
                Ok(self.slot)
            }
            Err(error) => Err((self, error)),
        }
    }
}

impl Slot {
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Writes the record and creates the handle.
    pub(super) fn into_stack(self) -> Stack {
        let start = self.start.addr().get();
        let offset = self.layout.top(start, self.place.slot as usize) - start;
        // SAFETY: EX1: the record lies within the slot.
        let top = unsafe { self.start.add(offset) }.cast::<StackTop>();
        // SAFETY: EX2, EX3: open, where the layout puts the record, and owned by this value alone.
        unsafe { Stack::new(top, self.limit().addr().get(), self.place) }
    }

    /// Discards the pages of slots; they read as zeros from then on.
    pub(super) fn discard_all(slots: &[Slot]) {
        let pages = slots.iter().map(|slot| (slot.limit(), slot.layout.size));
        // SAFETY: EX2, EX3: mapped, and no other code reads the memory.
        unsafe { os::discard_all(pages) };
    }

    fn limit(&self) -> NonNull<u8> {
        // SAFETY: EX1: within the slot.
        unsafe { self.start.add(self.layout.guard) }
    }
}
