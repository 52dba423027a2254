//! One worker's run queue, open to thieves: 256 slots, first in first out.
//!
//! The owner pushes at the tail and pops at the head. A thief steals half from the head, into its
//! own ring. No other thread accesses it; fibers that do not fit go to the injector.
//!
//! The head is two positions in one word. They differ while a thief copies:
//!
//! ```text
//!            steal        real                 tail
//!              v            v                    v
//!   ... free | being copied | queued  ...  queued | free ...
//! ```
//!
//! | thread | step | on the head | the tail |
//! |---|---|---|---|
//! | owner | push | reads `steal` (is there room?) | stores + 1, release |
//! | owner | pop | CAS: `real` + 1 (and `steal`, if equal) | |
//! | thief | claim | CAS: `real` + n, only if `steal` == `real` | reads it, acquire |
//! | thief | release | CAS: `steal` = `real`, until it succeeds | |
//! | owner | overflow | CAS: both = tail, only if equal | stores + 128, release |
//!
//! Overflow moves the newer half out. The owner claims all 256 like a thief would, so that no thief
//! can claim meanwhile. It hands the newer half over, and puts the older half back by moving the
//! tail: position tail + i is the very slot of the i-th oldest. Between the two steps the ring
//! looks empty. This is allowed because overflow is followed by a publication in the injector and
//! its wake check. (Moving the *older* half out instead would put the fibers that have waited
//! longest behind the whole injector.)
//!
//! Positions wrap through all of `u32` and are compared by subtraction. A stale CAS of the head can
//! succeed wrongly only if its thread is held up for exactly a multiple of 2^32 pops.
//!
//! Invariants:
//! * R1. Slots in `real..tail` hold fibers that belong to the ring; in `steal..real` they belong to
//!   the thief that claimed them; all others are free and the owner's.
//! * R2. Only the owner moves `tail`, and writes slots only in its free part, seen by an acquire
//!   load of the head.
//! * R3. `steal` != `real` only between a thief's claim and its release; one thief at a time.
//! * R4. A thread that sees a head by an acquire load sees a tail at least as far: each CAS of the
//!   head is a release by a thread that had seen that tail.

use std::fmt;
use std::mem::MaybeUninit;
#[cfg(not(pirn_modelled))]
use std::mem::offset_of;

use crate::base::list::NodePtr;
use crate::base::mutant::{mutant, or_relaxed};
use crate::base::pad::CachePadded;
use crate::shim::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::shim::{self, UnsafeCell};

/// The queue. Calls marked *owner* come from one thread; the caller guarantees it.
pub(crate) struct Ring<T> {
    /// `steal` (upper half) and `real`; written by owner and thieves.
    head: CachePadded<AtomicU64>,
    /// Written by the owner, read by thieves.
    tail: CachePadded<AtomicU32>,
    /// R1 says which side owns each slot.
    slots: [UnsafeCell<MaybeUninit<NodePtr<T>>>; CAPACITY as usize],
}

// The two ends share no cache line.
#[cfg(not(pirn_modelled))]
const _: () = {
    let (head, tail) = (offset_of!(Ring<()>, head), offset_of!(Ring<()>, tail));
    assert!(
        head.abs_diff(tail) >= 128,
        "a push would take the line of thieves"
    );
};

// SAFETY: R1, R2: each slot has one owner at a time, and the head and tail hand it over. Only
// pointers move; dereferencing them is the business of the code that does so.
unsafe impl<T> Sync for Ring<T> {}
// SAFETY: as above; the ring itself keeps nothing that is tied to a thread.
unsafe impl<T> Send for Ring<T> {}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Ring::starting_at(0)
    }

    /// Returns an empty ring with positions from `start`; tests begin close to the wrap.
    pub(in crate::sched) fn starting_at(start: u32) -> Self {
        Ring {
            head: CachePadded::new(AtomicU64::new(pack(start, start))),
            tail: CachePadded::new(AtomicU32::new(start)),
            slots: std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
        }
    }

    /// *Owner.* Pushes at the tail. Returns the fiber as an error if the ring is full, or a thief
    /// has not yet released what it claimed. No read-modify-write.
    #[inline]
    pub(crate) fn push(&self, fiber: NodePtr<T>) -> Result<(), NodePtr<T>> {
        let tail = self.tail.load(Ordering::Relaxed);
        // ORDERING: Acquire pairs with the release CAS in `steal_into`: the thief has read
        // the slot that is about to be written (R2).
        let (steal, _) = unpack(self.head.load(Ordering::Acquire));
        if tail.wrapping_sub(steal) >= CAPACITY {
            return Err(fiber);
        }
        self.write(tail, fiber);
        // ORDERING: Release pairs with the Acquire load of the tail in `claim_half`.
        let order = or_relaxed!(Ordering::Release, "ring_push_relaxed");
        self.tail.store(tail.wrapping_add(1), order);
        Ok(())
    }

    /// *Owner.* Pushes at the tail if there is room by now. Else hands the newer half and then
    /// `fiber` to `batch`, oldest first, or, if a thief is active, just `fiber`.
    ///
    /// LIVENESS: the ring may look empty for a moment, so the caller publishes the batch where
    /// others look and makes the wake check after it.
    pub(crate) fn push_overflow(
        &self,
        fiber: NodePtr<T>,
        mut batch: impl FnMut(NodePtr<T>),
    ) {
        if self.push(fiber).is_ok() {
            return;
        }
        let tail = self.tail.load(Ordering::Relaxed);
        let oldest = tail.wrapping_sub(CAPACITY);
        // ORDERING: AcqRel: release for R4; acquire as in `push`, now that all slots become
        // the owner's.
        let all = self.head.compare_exchange(
            pack(oldest, oldest),
            pack(tail, tail),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if all.is_ok() || mutant!("ring_overflow_unclaimed") {
            for position in 0..HALF {
                batch(self.read(oldest.wrapping_add(HALF).wrapping_add(position)));
            }
            // ORDERING: Release as in `push`. The older half lies where it now is read:
            // tail + i and oldest + i are one slot.
            self.tail.store(tail.wrapping_add(HALF), Ordering::Release);
        }
        batch(fiber);
    }

    /// *Owner.* Pops the oldest. One read-modify-write; none if the ring is empty.
    #[inline]
    pub(crate) fn pop(&self) -> Option<NodePtr<T>> {
        let tail = self.tail.load(Ordering::Relaxed);
        // ORDERING: Acquire keeps R2 for the pushes after this pop.
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (steal, real) = unpack(head);
            if real == tail {
                return None;
            }
            let after = real.wrapping_add(1);
            let moved = if steal == real {
                pack(after, after)
            } else {
                pack(steal, after)
            };
            // ORDERING: Release keeps R4.
            let order = or_relaxed!(Ordering::AcqRel, "ring_pop_relaxed");
            match self
                .head
                .compare_exchange(head, moved, order, Ordering::Acquire)
            {
                Ok(_) => return Some(self.read(real)),
                Err(now) => head = now,
            }
        }
    }

    /// *Thief, the owner of `dst`.* Steals half of what is queued here, rounded up, at most 128.
    /// Returns the oldest and the number taken in all; the others are in `dst`. None if the ring is
    /// empty, another thief is active, or `dst` is more than half full.
    pub(crate) fn steal_into(&self, dst: &Ring<T>) -> Option<(NodePtr<T>, u32)> {
        debug_assert!(!std::ptr::eq(self, dst), "a thief that robs itself");
        let dst_tail = dst.tail.load(Ordering::Relaxed);
        // ORDERING: Acquire as in `push`: the owner of `dst` is about to write its slots.
        let (dst_steal, _) = unpack(dst.head.load(Ordering::Acquire));
        if dst_tail.wrapping_sub(dst_steal) > HALF {
            return None;
        }
        let (first, n) = self.claim_half()?;
        if mutant!("ring_release_before_copy") {
            self.release();
        }
        let oldest = self.read(first);
        for i in 1..n {
            let fiber = self.read(first.wrapping_add(i));
            dst.write(dst_tail.wrapping_add(i - 1), fiber);
        }
        self.release();
        // ORDERING: Release as in `push`.
        dst.tail
            .store(dst_tail.wrapping_add(n - 1), Ordering::Release);
        Some((oldest, n))
    }

    /// The number of free slots; any thread, approximate unless the owner asks.
    pub(crate) fn free_slots(&self) -> u32 {
        let (steal, _, tail) = self.positions();
        CAPACITY.saturating_sub(tail.wrapping_sub(steal))
    }

    /// The number of queued fibers; any thread, approximate unless the owner asks.
    pub(crate) fn len(&self) -> u32 {
        self.look().1
    }

    /// Any thread, approximate unless the owner asks.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the head position and the length. Two looks that find the same head with something
    /// queued have found the same oldest fiber: it has aged by the time between them.
    pub(crate) fn look(&self) -> (u32, u32) {
        let (_, real, tail) = self.positions();
        // The tail may have moved since the head was read, but the truth is never above.
        (real, tail.wrapping_sub(real).min(CAPACITY))
    }

    fn positions(&self) -> (u32, u32, u32) {
        // ORDERING: Acquire for R4: the tail is not behind the head.
        let (steal, real) = unpack(self.head.load(Ordering::Acquire));
        (steal, real, self.tail.load(Ordering::Acquire))
    }

    /// The thief's first step. Returns the positions of the first fiber claimed and how many.
    fn claim_half(&self) -> Option<(u32, u32)> {
        // ORDERING: Acquire for R4.
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (steal, real) = unpack(head);
            if steal != real && !mutant!("ring_two_thieves") {
                return None;
            }
            // ORDERING: Acquire pairs with the Release store in `push`.
            let queued = self.tail.load(Ordering::Acquire).wrapping_sub(real);
            let n = queued.div_ceil(2).min(HALF);
            if n == 0 {
                return None;
            }
            // ORDERING: AcqRel: release for R4; acquire is not needed, but one CAS cannot
            // release and stay relaxed in any cheaper way.
            match self.head.compare_exchange(
                head,
                pack(steal, real.wrapping_add(n)),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some((real, n)),
                Err(now) => head = now,
            }
        }
    }

    /// The thief's last step. LIVENESS: repeats only because the owner popped in between; without
    /// it, all later thieves would be locked out.
    fn release(&self) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let (_, real) = unpack(head);
            // ORDERING: Release pairs with the Acquire loads of the head in `push`.
            match self.head.compare_exchange(
                head,
                pack(real, real),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn read(&self, position: u32) -> NodePtr<T> {
        self.slots[index(position)].with(|slot| {
            // SAFETY: R1: the caller has just taken this position out of `real..tail`.
            let slot = unsafe { *slot };
            // SAFETY: R1: what was between real and tail was written by a push.
            unsafe { slot.assume_init() }
        })
    }

    fn write(&self, position: u32, fiber: NodePtr<T>) {
        self.slots[index(position)].with_mut(|slot| {
            // SAFETY: R1, R2: the position is free, so the slot is the owner's.
            unsafe { slot.write(MaybeUninit::new(fiber)) }
        });
    }
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[inline]
fn pack(steal: u32, real: u32) -> u64 {
    u64::from(steal) << 32 | u64::from(real)
}

#[inline]
fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

#[inline]
fn index(position: u32) -> usize {
    (position % CAPACITY) as usize
}

/// A power of two, so that positions may wrap; 256 as in Go and Tokio. Small in a model: only
/// empty, half and full matter.
pub(crate) const CAPACITY: u32 = if shim::SMALL { 4 } else { 256 };
const HALF: u32 = CAPACITY / 2;
