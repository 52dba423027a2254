//! The arithmetic of the wheel: times, ticks, levels and slots. Pure numbers.
//!
//! A tick is 2^16 ns (65.5 µs); deadlines are rounded up to one. Each level has 64 slots, so eight
//! levels cover all 48 bits of a tick count. Level 0 spans 4.2 ms, then 268 ms, 17 s, 18 min, 20 h,
//! 52 days, 9 years, 584 years. Only deadlines within the last tick of `u64` are beyond that, at a
//! level that does not exist, so they never fire.
//!
//! # Placement
//! Write `due` and `elapsed` in base 64. A timer is at the level of the highest digit in which they
//! differ (level 0 if equal), in the slot that this digit of `due` names. So all timers of a lower
//! level are due before all of a higher one, and the slots of one level are in order. The next slot
//! to check is the lowest bit of the lowest level in use, found without a search and without
//! visiting empty ticks.
//!
//! # Ahead of time
//! A level has its 64 slots twice, in two banks that alternate: the lowest bit of the digit above
//! selects the bank. So timers due within the next slot of a level can be moved down before that
//! slot begins, a few at a time. They go into the unused bank of the level below.

/// Returns the tick that contains `time`.
#[inline]
pub(super) fn tick_at(time: u64) -> u64 {
    time >> TICK_BITS
}

/// Rounds a time up to a tick.
#[inline]
pub(super) fn tick_at_or_after(time: u64) -> u64 {
    // A division that rounds up would overflow near the end of `u64`.
    (time >> TICK_BITS) + u64::from(time & (TICK_NS - 1) != 0)
}

/// Returns `due` rounded up to the grain of a wait from `elapsed`: at most a thousandth of the
/// wait, and at most [`GRAIN_MAX`]. Grains are aligned, so that timers of about the same time share
/// a tick.
#[inline]
pub(super) fn coarse(elapsed: u64, due: u64) -> u64 {
    let wait = due.saturating_sub(elapsed);
    let grain = (wait / WAIT_PER_GRAIN).clamp(1, GRAIN_MAX);
    let grain = 1 << grain.ilog2();
    due.next_multiple_of(grain)
}

/// Returns the time at which `tick` begins.
#[inline]
pub(super) fn time_of(tick: u64) -> u64 {
    tick << TICK_BITS
}

/// Returns the highest digit in which the two ticks differ, 0 if none; `LEVELS` if `due` is beyond
/// the last tick.
#[inline]
pub(super) fn level_of(elapsed: u64, due: u64) -> usize {
    let differing = (elapsed ^ due) | (BANK as u64 - 1);
    (differing.ilog2() / DIGIT_BITS) as usize
}

/// Returns the slot of `level` that contains `tick`: its digit, and the bank above that.
#[inline]
pub(super) fn slot_of(tick: u64, level: usize) -> usize {
    (tick >> (level as u32 * DIGIT_BITS)) as usize % SLOTS
}

/// Returns the slot of `level` after the one that contains `tick`; `None` if it is in the other
/// bank.
#[inline]
pub(super) fn next_slot(tick: u64, level: usize) -> Option<usize> {
    let next = slot_of(tick, level) + 1;
    (!next.is_multiple_of(BANK)).then_some(next)
}

/// Returns the bank of `level` that is in use at `tick`.
#[inline]
pub(super) fn bank(tick: u64, level: usize) -> usize {
    slot_of(tick, level) / BANK
}

/// Returns the first tick of a slot: `elapsed` with the digits up to `level` replaced.
#[inline]
pub(super) fn slot_start(elapsed: u64, level: usize, slot: usize) -> u64 {
    let shift = level as u32 * DIGIT_BITS;
    let above = elapsed >> (shift + DIGIT_BITS) << DIGIT_BITS;
    (above | (slot % BANK) as u64) << shift
}

/// Returns the last tick of the slot of `level` that contains `tick`.
#[inline]
pub(super) fn slot_end(tick: u64, level: usize) -> u64 {
    tick | ((1 << (level as u32 * DIGIT_BITS)) - 1)
}

/// A tick is 65,536 ns: an eighth of the 0.5 ms that a near timer may be late, so that the caller's
/// polling can use the rest.
const TICK_BITS: u32 = 16;
pub(super) const TICK_NS: u64 = 1 << TICK_BITS;

/// A wait is rounded up by less than one part in this number.
const WAIT_PER_GRAIN: u64 = 1 << 10;

/// The largest grain, in ticks: 1.05 ms, reached by waits of 1.07 s and more. A power of two.
const GRAIN_MAX: u64 = 1 << 4;

/// One occupancy word for each bank.
const DIGIT_BITS: u32 = 6;
pub(super) const BANK: usize = 1 << DIGIT_BITS;

/// The number of banks of a level.
pub(super) const BANKS: usize = 2;
pub(super) const SLOTS: usize = BANK * BANKS;

/// Enough levels to cover all bits of a tick count.
pub(super) const LEVELS: usize = ((u64::BITS - TICK_BITS) / DIGIT_BITS) as usize;
