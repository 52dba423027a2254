//! The levels of a wheel: the lists of timers, and the words that other threads may read: which
//! slots have timers, and the earliest tick of each.
//!
//! Only the wheel writes these words. A reader loads them one by one while the owner may change
//! them. So the result is exact only while the owner makes no change (`observe::stall`), and no
//! decision may depend on it.
//!
//! Invariants: those of the wheel (WH2, WH6). The earliest tick of a slot is within that slot.
//!
//! PERF: plain loads and stores, as for words that no other thread reads, next to the lists. Words
//! in another place took 12 instructions more for a timer (bench guard).

use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

// Not from `shim`: in a model each of these would be one more step of the wheel.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::list::List;
use crate::timer::entry::Timer;
use crate::timer::ticks::{BANK, BANKS, LEVELS, SLOTS, slot_end, tick_at, time_of};

/// A wheel's reference to its levels.
///
/// PERF: an `Arc`, stored as the address of its contents. An `Arc` itself points two words before
/// them, which costs four instructions more for a timer (bench guard).
///
/// Invariant: created from an `Arc`, which is released when this is dropped.
pub(super) struct Hold<P>(NonNull<Levels<P>>);

// SAFETY: as an `Arc` of levels, which are `Send` and `Sync`.
unsafe impl<P: Send> Send for Hold<P> {}

impl<P> Hold<P> {
    pub(super) fn new() -> Hold<P> {
        let levels = Arc::new(Levels(std::array::from_fn(|_| Level::new())));
        let levels = Arc::into_raw(levels).cast_mut();
        Hold(NonNull::new(levels).expect("an `Arc` is somewhere"))
    }

    pub(super) fn share(&self) -> Arc<Levels<P>> {
        let levels = self.0.as_ptr();
        // SAFETY: the invariant.
        unsafe { Arc::increment_strong_count(levels) };
        // SAFETY: counted in the line above.
        unsafe { Arc::from_raw(levels) }
    }

    #[inline]
    pub(super) fn at(&self, level: usize) -> &Level<P> {
        // SAFETY: the invariant: it lives as long as this.
        &unsafe { self.0.as_ref() }.0[level]
    }

    /// Returns a level, and the timers of one of its slots.
    #[inline]
    pub(super) fn slot(
        &mut self,
        level: usize,
        slot: usize,
    ) -> (&Level<P>, &mut List<Timer<P>>) {
        let level = self.at(level);
        // SAFETY: WH6: a wheel has the one `Hold`, which stays exclusively borrowed with the
        // result; other holders of the levels do not touch the lists.
        (level, unsafe { &mut *level.slots[slot].timers.get() })
    }
}

impl<P> Drop for Hold<P> {
    fn drop(&mut self) {
        // SAFETY: the invariant; it is not used after this.
        drop(unsafe { Arc::from_raw(self.0.as_ptr()) });
    }
}

/// The levels of a wheel; other threads may read a part of them.
pub(crate) struct Levels<P>([Level<P>; LEVELS]);

// SAFETY: WH6: the lists go to the thread that has the wheel; a list may go to another thread.
unsafe impl<P: Send> Send for Levels<P> {}
// SAFETY: WH6: all but the lists is atomic.
unsafe impl<P: Send> Sync for Levels<P> {}

pub(super) struct Level<P> {
    /// Bit `s` of word `b` is set iff slot `s` of bank `b` is not empty (WH2).
    occupied: [AtomicU64; BANKS],
    slots: [Slot<P>; SLOTS],
}

struct Slot<P> {
    timers: UnsafeCell<List<Timer<P>>>,
    /// A lower bound of `due` over `timers`, exact unless one was disarmed. Meaningful
    /// only while occupied.
    earliest: AtomicU64,
}

impl<P> Levels<P> {
    /// Returns since when some timer has been due at `now`, in nanoseconds as the wheel counts
    /// them; `None` if none is known to be. May be called on any thread.
    ///
    /// A disarmed timer may leave its tick behind. Then the slot is taken to be due at its end: at
    /// most 4 ms late for waits of 0.3 s, 0.3 s late for waits of 17 s.
    pub(crate) fn due_since(&self, now: u64) -> Option<u64> {
        let now = tick_at(now);
        let levels = self.0.iter().enumerate();
        let due = levels.flat_map(|(at, level)| level.ends(at));
        due.filter(|end| *end <= now).min().map(time_of)
    }
}

impl<P> Level<P> {
    fn new() -> Level<P> {
        Level {
            occupied: std::array::from_fn(|_| AtomicU64::new(0)),
            slots: std::array::from_fn(|_| Slot {
                timers: UnsafeCell::new(List::new()),
                earliest: AtomicU64::new(0),
            }),
        }
    }

    #[inline]
    pub(super) fn occupied(&self, bank: usize) -> u64 {
        self.occupied[bank].load(Ordering::Relaxed)
    }

    /// Returns the lower bound of `due` of a slot that has timers.
    #[inline]
    pub(super) fn earliest(&self, slot: usize) -> Option<u64> {
        let occupied = self.occupied(slot / BANK) & (1 << (slot % BANK)) != 0;
        occupied.then(|| self.slots[slot].earliest.load(Ordering::Relaxed))
    }

    /// *Owner.* Records that a timer due at this tick was added to the slot.
    #[inline]
    pub(super) fn add(&self, slot: usize, due: u64) {
        let word = &self.occupied[slot / BANK];
        let occupied = word.load(Ordering::Relaxed);
        let bit = 1 << (slot % BANK);
        let earliest = &self.slots[slot].earliest;
        let first = match occupied & bit {
            0 => due,
            _ => due.min(earliest.load(Ordering::Relaxed)),
        };
        earliest.store(first, Ordering::Relaxed);
        // ORDERING: Release: a reader that sees the slot occupied sees its earliest tick.
        word.store(occupied | bit, Ordering::Release);
    }

    /// *Owner.* Records that the slot is empty. Returns true if the whole level is.
    #[inline]
    pub(super) fn remove(&self, slot: usize) -> bool {
        let bank = slot / BANK;
        let occupied = self.occupied(bank) & !(1 << (slot % BANK));
        self.occupied[bank].store(occupied, Ordering::Relaxed);
        occupied | self.occupied(1 - bank) == 0
    }

    /// Returns the last ticks of the occupied slots.
    fn ends(&self, level: usize) -> impl Iterator<Item = u64> + '_ {
        (0..BANKS).flat_map(move |bank| {
            // ORDERING: Acquire: pairs with the Release in `add`.
            let word = self.occupied[bank].load(Ordering::Acquire);
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(word).filter(|w| *w != 0), rest);
            words.map(move |word| {
                let slot = bank * BANK + word.trailing_zeros() as usize;
                slot_end(self.slots[slot].earliest.load(Ordering::Relaxed), level)
            })
        })
    }
}

impl<P> fmt::Debug for Levels<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Levels").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::ticks::TICK_NS;

    #[test]
    #[cfg(not(pirn_modelled))]
    fn a_slot_is_due_at_its_end() {
        let levels = Hold::<()>::new();
        assert_eq!(levels.share().due_since(u64::MAX), None);
        levels.at(0).add(5, 5);
        assert_eq!(levels.share().due_since(5 * TICK_NS - 1), None);
        assert_eq!(levels.share().due_since(7 * TICK_NS), Some(5 * TICK_NS));
        assert!(levels.at(0).remove(5));
        levels.at(1).add(1, 64);
        levels.at(1).add(1, 80);
        assert_eq!(levels.share().due_since(126 * TICK_NS), None);
        assert_eq!(levels.share().due_since(127 * TICK_NS), Some(127 * TICK_NS));
    }
}
