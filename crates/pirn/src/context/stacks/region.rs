//! The list of all reservations of the process, for the overflow handler, which must not take a
//! lock.
//!
//! Nodes are leaked and used again, never freed, so the handler may walk the list at any moment. A
//! pool fills a node when it maps a reservation and vacates it before unmapping.
//!
//! # Invariants
//! * RV1. A node, once linked, stays linked and allocated.
//! * RV2. `base` is not 0 iff the node describes a mapped reservation; it is stored last and
//!   cleared first. Nodes change hands only by the exchange 0 → CLAIMED.
//! * RV3. Slots below `made` have been claimed before. Their records are mapped, except under
//!   `Guarding::Protect` those of slots that are being opened, or could not be. No thread is on
//!   such a slot. If a stray access faults in its guard, the handler faults too.

use std::ptr;
// Not from `shim`: a signal handler reads these words, and a model must never drive it.
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::layout::Layout;
use super::stack::{self, StackTop};

/// Marks a node that is being filled; no mapping starts there.
const CLAIMED: usize = 1;

static FIRST: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());

/// One reservation as the overflow handler sees it.
#[derive(Debug)]
pub(super) struct Region {
    base: AtomicUsize,
    slots: AtomicUsize,
    size: AtomicUsize,
    guard: AtomicUsize,
    made: AtomicUsize,
    next: AtomicPtr<Region>,
}

/// The handler's result for a fault in a guard.
#[derive(Debug)]
pub(in crate::context) struct Overflow {
    /// Null if the stack has had none. One that was given back keeps its last.
    pub(in crate::context) owner: *const (),
    /// Requested size of the stack in bytes.
    pub(in crate::context) size: usize,
}

impl Region {
    /// Publishes `slots` slots at `base` to the handler; none of them is made yet.
    pub(super) fn publish(base: usize, layout: Layout, slots: usize) -> &'static Region {
        let region = vacant().unwrap_or_else(link_new);
        region.slots.store(slots, Ordering::Relaxed);
        region.size.store(layout.size, Ordering::Relaxed);
        region.guard.store(layout.guard, Ordering::Relaxed);
        region.made.store(0, Ordering::Relaxed);
        // ORDERING: pairs with the Acquire load in `overflow_at`.
        region.base.store(base, Ordering::Release);
        region
    }

    /// Records that the slots below `made` have been handed out (RV3).
    pub(super) fn set_made(&self, made: usize) {
        self.made.store(made, Ordering::Relaxed);
    }

    /// Hides the reservation from the handler; called before unmapping.
    pub(super) fn vacate(&self) {
        // ORDERING: pairs with the Acquire exchange in `vacant`.
        self.base.store(0, Ordering::Release);
    }

    /// Returns the slot of an address, if it has been handed out before: its layout, its start, and
    /// the position of its record.
    fn slot_at(&self, address: usize) -> Option<(Layout, usize, *const StackTop)> {
        // ORDERING: pairs with the Release store in `publish`.
        let base = self.base.load(Ordering::Acquire);
        let layout = Layout {
            size: self.size.load(Ordering::Relaxed),
            guard: self.guard.load(Ordering::Relaxed),
        };
        let index = address.checked_sub(base)?.checked_div(layout.stride())?;
        if base <= CLAIMED || index >= self.slots.load(Ordering::Relaxed) {
            return None;
        }
        let slot = base + index * layout.stride();
        let made = index < self.made.load(Ordering::Relaxed);
        let top = ptr::with_exposed_provenance::<StackTop>(layout.top(slot, index));
        made.then_some((layout, slot, top))
    }

    fn overflow_at(&self, fault: usize) -> Option<Overflow> {
        let (layout, slot, top) = self.slot_at(fault)?;
        if fault >= layout.limit(slot) {
            return None;
        }
        // SAFETY: RV2, RV3: a thread that overflows is on the slot, so its record is mapped.
        let owner = unsafe { stack::owner_at(top) };
        Some(Overflow {
            owner,
            size: layout.size,
        })
    }

    fn stack_at(&self, address: usize) -> Option<StackAt> {
        let (layout, slot, top) = self.slot_at(address)?;
        if !(layout.limit(slot)..top.addr()).contains(&address) {
            return None;
        }
        // SAFETY: RV2, RV3: the caller is on the slot, so its record is mapped.
        let owner = unsafe { stack::owner_at(top) };
        Some(StackAt {
            end: top.addr(),
            owner,
        })
    }
}

/// Returns the stack with `fault` in its guard; `None` if there is none. Takes no lock and calls no
/// other code: allowed in a signal handler.
pub(in crate::context) fn overflow_at(fault: usize) -> Option<Overflow> {
    // ORDERING: pairs with the Release exchange in `link_new`.
    let mut next = FIRST.load(Ordering::Acquire);
    loop {
        // SAFETY: RV1: linked nodes stay allocated.
        let region = unsafe { next.as_ref() }?;
        if let Some(overflow) = region.overflow_at(fault) {
            return Some(overflow);
        }
        next = region.next.load(Ordering::Acquire);
    }
}

/// The stack that `address` is on.
#[derive(Debug)]
pub(crate) struct StackAt {
    /// Where the stack ends.
    pub(crate) end: usize,
    /// As set by [`Stack::set_owner`](crate::context::Stack::set_owner).
    pub(crate) owner: *const (),
}

/// Returns the stack that `address` is on; `None` if it is on no fiber's stack. Takes no lock and
/// calls no other code: allowed in a signal handler on that stack.
pub(crate) fn stack_at(address: usize) -> Option<StackAt> {
    // ORDERING: pairs with the Release exchange in `link_new`.
    let mut next = FIRST.load(Ordering::Acquire);
    loop {
        // SAFETY: RV1: linked nodes stay allocated.
        let region = unsafe { next.as_ref() }?;
        if let Some(stack) = region.stack_at(address) {
            return Some(stack);
        }
        next = region.next.load(Ordering::Acquire);
    }
}

/// Claims a node that a dropped pool has vacated.
fn vacant() -> Option<&'static Region> {
    // ORDERING: pairs with the Release exchange in `link_new`.
    let mut next = FIRST.load(Ordering::Acquire);
    loop {
        // SAFETY: RV1: linked nodes stay allocated.
        let region = unsafe { next.as_ref() }?;
        // ORDERING: pairs with the Release store in `Region::vacate`.
        let claim = region.base.compare_exchange(
            0,
            CLAIMED,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if claim.is_ok() {
            return Some(region);
        }
        next = region.next.load(Ordering::Acquire);
    }
}

/// Links a new node, claimed.
fn link_new() -> &'static Region {
    let region: &'static Region = Box::leak(Box::new(Region {
        base: AtomicUsize::new(CLAIMED),
        slots: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        guard: AtomicUsize::new(0),
        made: AtomicUsize::new(0),
        next: AtomicPtr::new(ptr::null_mut()),
    }));
    let mut first = FIRST.load(Ordering::Relaxed);
    loop {
        region.next.store(first, Ordering::Relaxed);
        let node = ptr::from_ref(region).cast_mut();
        // ORDERING: pairs with the Acquire loads in `overflow_at` and `vacant`.
        match FIRST.compare_exchange_weak(
            first,
            node,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            Ok(_) => return region,
            Err(now) => first = now,
        }
    }
}
