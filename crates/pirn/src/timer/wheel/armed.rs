//! The hierarchical timer wheel: arm and disarm in O(1), fire in order of the tick.
//!
//! Owns: the slots, their occupancy bitmaps and the wheel's present tick. Does not own: entries
//! (waiters do), the clock, or the act of waking.
//!
//! Rounding, levels and slots are the arithmetic of `ticks`. A deadline fires at the first
//! `advance` with a time that has reached its tick: never early, and less than one tick later than
//! the caller's polling causes. When time enters a slot of a higher level, the timers there move
//! down, each at most once per level. Most have moved before: every `advance` moves a few that are
//! due within the next slot. Otherwise a slot with a hundred thousand timers would delay all other
//! due timers, because each is on a stack of its own, and in no cache.
//!
//! A slot remembers the earliest tick that was put into it, so a sleeper sleeps until the timer
//! itself and not until the start of the slot. After a disarm that tick is stale until the slot is
//! empty, which costs at most one early check per slot.
//!
//! # Invariants
//! * WH1. A timer's place is `Slot` iff it is linked in exactly that slot's list.
//! * WH2. An occupancy bit is set iff the slot's list is not empty; a bit of `in_use` iff
//!   its level has an occupied slot, in either bank.
//! * WH3. Every linked timer is where `ticks` places it for the present `elapsed`, or, ahead of
//!   time, one level lower. In that case it is due within the next slot of its regular level.
//!   `elapsed` enters a slot of a higher level only as that slot is emptied downwards.
//! * WH4. `elapsed` never shrinks and never exceeds the tick of a time that was passed in.
//! * WH5. Timers of one tick fire in the order in which they were armed. A slot's list is FIFO, and
//!   moving down keeps the order, also ahead of time. A slot takes new timers for a tick only after
//!   the older ones have moved down to it (WH3).
//! * WH6. Only the wheel accesses the lists of `levels`, on behalf of its owner, through an
//!   exclusive borrow of the wheel. Other threads hold `levels` for its atomics.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::levels::{Hold, Levels};
use crate::base::list::List;
use crate::timer::entry::{Place, Timer};
use crate::timer::ticks::{
    BANK, LEVELS, bank, coarse, level_of, next_slot, slot_of, slot_start, tick_at,
    tick_at_or_after, time_of,
};

/// The most timers of one level that one `advance` moves down ahead of time. Each takes about 0.4
/// µs when a million fibers sleep; otherwise arbitrary.
const AHEAD: usize = 64;

/// A set of armed timers; belongs to one worker.
pub(crate) struct Wheel<P> {
    /// The tick up to which everything due has fired.
    elapsed: u64,
    /// The number of armed timers, including those that never fire.
    len: usize,
    /// Bit `l` is set iff level `l` has an occupied slot (WH2).
    in_use: u8,
    levels: Hold<P>,
}

impl<P: Copy> Wheel<P> {
    /// Returns an empty wheel at the time `now`, in nanoseconds since any origin.
    pub(crate) fn new(now: u64) -> Self {
        Wheel {
            elapsed: tick_at(now),
            len: 0,
            in_use: 0,
            levels: Hold::new(),
        }
    }

    /// Returns the levels; other threads may read a part of them.
    pub(crate) fn levels(&self) -> Arc<Levels<P>> {
        self.levels.share()
    }

    /// Arms `timer` to fire at the first `advance` that has reached `deadline`. A deadline that has
    /// passed fires at the next `advance`.
    ///
    /// # Safety
    /// * `timer` points to a live timer that is not armed.
    /// * Until it is fired or disarmed (by this wheel) it stays at its address and no unique
    ///   reference to it exists, unless the wheel is never used again (E1, E2).
    #[inline]
    pub(crate) unsafe fn arm(&mut self, timer: NonNull<Timer<P>>, deadline: u64) {
        // SAFETY: as the caller promises.
        unsafe { self.arm_at(timer, tick_at_or_after(deadline)) };
    }

    /// As [`arm`](Wheel::arm), but later by up to 1/1024 of the time from the last `advance` to
    /// `deadline`, and by at most 1.05 ms. Timers with nearby deadlines fire together, so that a
    /// sleeper wakes up once for all of them.
    ///
    /// # Safety
    /// As [`arm`](Wheel::arm).
    #[inline(always)]
    pub(crate) unsafe fn arm_coarse(&mut self, timer: NonNull<Timer<P>>, deadline: u64) {
        let due = coarse(self.elapsed, tick_at_or_after(deadline));
        // SAFETY: as the caller promises.
        unsafe { self.arm_at(timer, due) };
    }

    /// # Safety
    /// As [`arm`](Wheel::arm).
    #[inline]
    unsafe fn arm_at(&mut self, timer: NonNull<Timer<P>>, due: u64) {
        // SAFETY: the caller guarantees a live timer that is only shared.
        let entry = unsafe { timer.as_ref() };
        debug_assert!(!entry.is_armed(), "armed twice");
        entry.due.set(due.max(self.elapsed));
        self.len += 1;
        // SAFETY: the timer is in no list as it is not armed (WH1), and pinned (E1).
        unsafe { self.link_by_due(timer) };
    }

    /// Disarms `timer`. Returns false if it was not armed: it has fired, or was never armed.
    ///
    /// # Safety
    /// `timer` points to a live timer; if it is armed, this wheel armed it.
    #[inline(always)]
    pub(crate) unsafe fn disarm(&mut self, timer: NonNull<Timer<P>>) -> bool {
        // SAFETY: the caller guarantees a live timer that is only shared (E2).
        let entry = unsafe { timer.as_ref() };
        match entry.place.replace(Place::Nowhere) {
            Place::Nowhere => return false,
            Place::Never => {}
            Place::Slot { level, slot } => {
                let (number, slot) = (usize::from(level), usize::from(slot));
                let (level, list) = self.levels.slot(number, slot);
                // SAFETY: WH1: the timer is linked in exactly this list.
                unsafe { list.remove(timer) };
                if list.is_empty() && level.remove(slot) {
                    self.in_use &= !(1 << number);
                }
            }
        }
        self.len -= 1;
        true
    }

    /// Returns when to call `advance` next. It is never later than the tick at which the first
    /// timer fires, and earlier only if a timer was disarmed that would have been first. `None` if
    /// no timer will ever fire.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let (level, slot) = self.first()?;
        let here = self.levels.at(level).earliest(slot);
        let ahead = self.first_ahead(level);
        let ahead = ahead.and_then(|slot| self.levels.at(level - 1).earliest(slot));
        let earliest = match (here, ahead) {
            (Some(here), Some(ahead)) => here.min(ahead),
            (here, ahead) => here.or(ahead)?,
        };
        Some(time_of(earliest))
    }

    /// Fires all timers that are due at `now`, in order of their ticks, and sets the present to
    /// `now`. A timer is idle before its payload is passed to `fire`. A `now` before an earlier one
    /// counts as that earlier one.
    ///
    /// UNWIND: a panic in `fire` leaves the wheel consistent; timers that were due and have not
    /// fired fire at the next `advance`.
    pub(crate) fn advance(&mut self, now: u64, mut fire: impl FnMut(P)) {
        let now = tick_at(now);
        while let Some((level, slot)) = self.first() {
            let start = slot_start(self.elapsed, level, slot);
            if start > now {
                break;
            }
            // WH3: no timer is due before `start`, and this slot is emptied at once.
            self.elapsed = self.elapsed.max(start);
            if level == 0 {
                self.fire_slot(slot, &mut fire);
                continue;
            }
            if level > 1 {
                // Time enters a slot below as well, and timers that were moved there ahead of time
                // are older than the rest (WH5).
                self.move_down(level - 1, slot_of(start, level - 1));
            }
            self.move_down(level, slot);
        }
        // WH3: every remaining slot starts after `now`, so time enters none of them.
        self.elapsed = self.elapsed.max(now);
        self.move_ahead();
    }

    /// Returns how many timers are armed.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests look at it"))]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns true if no timer is armed.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests look at it"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the level and slot that time enters first, among those that have timers. All of its
    /// timers may have moved down ahead of time.
    #[inline]
    fn first(&self) -> Option<(usize, usize)> {
        // Timers moved ahead belong to the level above.
        let mut levels = self.in_use | self.in_use << 1;
        while levels != 0 {
            let level = levels.trailing_zeros() as usize;
            let bank = bank(self.elapsed, level);
            let occupied = self.levels.at(level).occupied(bank);
            if self.first_ahead(level).is_some() {
                let Some(next) = next_slot(self.elapsed, level) else {
                    unreachable!("what is ahead is due within a slot of the same bank");
                };
                return Some((level, next));
            }
            if occupied != 0 {
                return Some((level, bank * BANK + occupied.trailing_zeros() as usize));
            }
            levels &= levels - 1;
        }
        None
    }

    /// Returns the first slot below `level` that has timers due within the next slot of `level`.
    #[inline]
    fn first_ahead(&self, level: usize) -> Option<usize> {
        let below = level.checked_sub(1)?;
        let other = 1 - bank(self.elapsed, below);
        let occupied = self.levels.at(below).occupied(other);
        (occupied != 0).then(|| other * BANK + occupied.trailing_zeros() as usize)
    }

    fn fire_slot(&mut self, slot: usize, fire: &mut impl FnMut(P)) {
        while let Some(timer) = self.pop(0, slot) {
            // SAFETY: E1: it was linked until now, so it is alive; after `fire` it may not be, and
            // it is not accessed again.
            let entry = unsafe { timer.as_ref() };
            entry.place.set(Place::Nowhere);
            self.len -= 1;
            fire(entry.payload());
        }
    }

    /// Empties a slot that time has just entered.
    fn move_down(&mut self, level: usize, slot: usize) {
        while let Some(timer) = self.pop(level, slot) {
            // SAFETY: the timer was popped, hence is in no list, and it is pinned (E1). It now
            // shares this digit with `elapsed`, so it goes to a lower level.
            unsafe { self.link_by_due(timer) };
        }
    }

    /// Moves down some of the timers that are due within the next slot of each level.
    fn move_ahead(&mut self) {
        let mut levels = self.in_use & !1;
        while levels != 0 {
            let level = levels.trailing_zeros() as usize;
            levels &= levels - 1;
            // A slot of the other bank is part of another slot above, and is moved with that.
            let Some(next) = next_slot(self.elapsed, level) else {
                continue;
            };
            for _ in 0..AHEAD {
                let Some(timer) = self.pop(level, next) else {
                    break;
                };
                // SAFETY: popped, hence in no list, and pinned (E1).
                unsafe { self.link(timer, level - 1) };
            }
        }
    }

    #[inline]
    fn pop(&mut self, level: usize, slot: usize) -> Option<NonNull<Timer<P>>> {
        let list = self.slot(level, slot);
        let timer = list.pop_front()?;
        if list.is_empty() {
            self.mark_empty(level, slot);
        }
        Some(timer)
    }

    /// Links `timer` in the slot for its `due`, or marks it `Never` if no level reaches that far.
    ///
    /// # Safety
    /// The timer is alive, in no list, and pinned until it is unlinked (E1).
    #[inline]
    unsafe fn link_by_due(&mut self, timer: NonNull<Timer<P>>) {
        // SAFETY: the caller guarantees a live timer that is only shared (E2).
        let entry = unsafe { timer.as_ref() };
        let due = entry.due.get();
        let level = level_of(self.elapsed, due);
        if level >= LEVELS {
            entry.place.set(Place::Never);
            return;
        }
        // SAFETY: as the caller guarantees.
        unsafe { self.link(timer, level) };
    }

    /// Links `timer` at `level`.
    ///
    /// # Safety
    /// As [`link_by_due`](Wheel::link_by_due).
    #[inline]
    unsafe fn link(&mut self, timer: NonNull<Timer<P>>, level: usize) {
        // SAFETY: the caller guarantees a live timer that is only shared (E2).
        let entry = unsafe { timer.as_ref() };
        let due = entry.due.get();
        let slot = slot_of(due, level);
        // The numbers fit: they are small.
        entry.place.set(Place::Slot {
            level: level as u8,
            slot: slot as u8,
        });
        self.in_use |= 1 << level;
        let (level, list) = self.levels.slot(level, slot);
        level.add(slot, due);
        // SAFETY: the caller guarantees that it is in no list and stays at its address while
        // linked.
        unsafe { list.push_back(timer) };
    }

    #[inline]
    fn slot(&mut self, level: usize, slot: usize) -> &mut List<Timer<P>> {
        self.levels.slot(level, slot).1
    }

    #[inline]
    fn mark_empty(&mut self, level: usize, slot: usize) {
        if self.levels.at(level).remove(slot) {
            self.in_use &= !(1 << level);
        }
    }
}

impl<P> fmt::Debug for Wheel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("elapsed", &self.elapsed)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
