//! The slot for the one fiber that its worker runs next.
//!
//! The owner puts and takes. A thief may take a *fresh* fiber that has waited too long; a
//! *settled* one is never stolen. So the pointer carries a FRESH bit, and a thief's
//! compare-exchange compares bit and pointer together.
//!
//! | slot | owner puts | owner takes | thief |
//! |---|---|---|---|
//! | empty | store | | |
//! | settled | store (evicts) | store 0 | hands off |
//! | fresh | swap (evicts, unless stolen) | swap 0 (unless stolen) | CAS to 0 |
//!
//! Invariants:
//! * N1. Only the owner makes the slot non-empty. While it is empty or settled no thief can
//!   change it, so the owner's plain stores overwrite nothing.
//! * N2. A thief takes exactly the value that is in the slot at that moment, and it is fresh.
//!
//! ABA: between a thief's look and its CAS the same header may have been taken, run to its end,
//! recycled for another fiber and put here again. If that one is fresh, the CAS takes it,
//! correctly: it is what is in the slot, it may be stolen, and the thief accesses no header before
//! it has won. Only the *age* assumed by the thief is wrong, which costs one early steal. If it is
//! settled, the bit differs and the CAS fails.

use std::fmt;
use std::ptr;

use crate::base::list::{Linked, NodePtr};
use crate::base::mutant::{mutant, or_relaxed};
use crate::shim::atomic::{AtomicPtr, Ordering};

/// The content of the slot.
pub(crate) enum NextItem<T> {
    /// Never run: may be stolen.
    Fresh(NodePtr<T>),
    /// Bound to this worker.
    Settled(NodePtr<T>),
}

impl<T> NextItem<T> {
    #[inline(always)]
    pub(crate) fn fiber(self) -> NodePtr<T> {
        match self {
            NextItem::Fresh(fiber) | NextItem::Settled(fiber) => fiber,
        }
    }
}

/// The slot. Calls marked *owner* come from one thread; the caller guarantees it.
pub(crate) struct Next<T>(AtomicPtr<T>);

impl<T: Linked> Next<T> {
    pub(crate) fn new() -> Self {
        const { assert!(align_of::<T>() > FRESH, "no room for the bit") };
        Next(AtomicPtr::new(ptr::null_mut()))
    }

    /// *Owner.* Puts `item` into the slot and returns what it evicts. No read-modify-write unless a
    /// fresh fiber is there.
    #[inline]
    pub(crate) fn put(&self, item: NextItem<T>) -> Option<NextItem<T>> {
        let before = self.0.load(Ordering::Relaxed);
        let item = tag(item);
        // ORDERING: Release pairs with the Acquire in `steal`.
        let order = or_relaxed!(Ordering::Release, "next_put_relaxed");
        if is_fresh(before) && !mutant!("next_put_plain") {
            return untag(self.0.swap(item, order));
        }
        // N1: no other thread can have changed the slot since the load.
        self.0.store(item, order);
        untag(before)
    }

    /// *Owner.* Empties the slot. No read-modify-write unless a fresh fiber is there.
    #[inline]
    pub(crate) fn take(&self) -> Option<NextItem<T>> {
        let before = self.0.load(Ordering::Relaxed);
        if before.is_null() {
            return None;
        }
        if is_fresh(before) && !mutant!("next_take_plain") {
            // The owner put it there itself: nothing to acquire. A thief may have been first.
            return untag(self.0.swap(ptr::null_mut(), Ordering::Relaxed));
        }
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
        untag(before)
    }

    /// *Any thread.* Returns the content of the slot as an opaque number; 0 means empty. After two
    /// looks with the same answer a thief may assume that the same fiber has waited meanwhile.
    #[inline]
    pub(crate) fn look(&self) -> usize {
        self.0.load(Ordering::Relaxed).addr()
    }

    /// *Any thread.* As `look`, but 0 also for a fiber that may not be stolen.
    #[inline]
    pub(crate) fn look_fresh(&self) -> usize {
        let seen = self.look();
        if seen & FRESH == 0 { 0 } else { seen }
    }

    /// *Thief.* Takes the fiber, if the slot still is as `seen` and that was a fresh one.
    pub(crate) fn steal(&self, seen: usize) -> Option<NodePtr<T>> {
        if seen & FRESH == 0 {
            return None;
        }
        if mutant!("next_no_compare") {
            return strip(self.0.swap(ptr::null_mut(), Ordering::Acquire));
        }
        // ORDERING: Acquire pairs with the Release in `put`.
        let taken = self.0.compare_exchange(
            ptr::without_provenance_mut(seen),
            ptr::null_mut(),
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        strip(taken.ok()?)
    }

    /// *Any thread*, approximate unless the owner asks.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.look() == 0
    }
}

impl<T> PartialEq for NextItem<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (NextItem::Fresh(a), NextItem::Fresh(b)) => a == b,
            (NextItem::Settled(a), NextItem::Settled(b)) => a == b,
            _ => false,
        }
    }
}

impl<T> fmt::Debug for NextItem<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NextItem::Fresh(fiber) => f.debug_tuple("Fresh").field(fiber).finish(),
            NextItem::Settled(fiber) => f.debug_tuple("Settled").field(fiber).finish(),
        }
    }
}

impl<T: Linked> fmt::Debug for Next<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Next").field(&self.look()).finish()
    }
}

fn tag<T>(item: NextItem<T>) -> *mut T {
    match item {
        NextItem::Fresh(fiber) => fiber.as_ptr().map_addr(|addr| addr | FRESH),
        NextItem::Settled(fiber) => fiber.as_ptr(),
    }
}

fn untag<T: Linked>(tagged: *mut T) -> Option<NextItem<T>> {
    let fiber = strip(tagged)?;
    Some(if is_fresh(tagged) {
        NextItem::Fresh(fiber)
    } else {
        NextItem::Settled(fiber)
    })
}

/// Returns the fiber in a word of the slot.
fn strip<T: Linked>(tagged: *mut T) -> Option<NodePtr<T>> {
    // SAFETY: without the bit it is null, or what `put` got (T1).
    unsafe { NodePtr::from_raw(tagged.map_addr(|addr| addr & !FRESH)) }
}

fn is_fresh<T>(tagged: *mut T) -> bool {
    tagged.addr() & FRESH != 0
}

const FRESH: usize = 1;
