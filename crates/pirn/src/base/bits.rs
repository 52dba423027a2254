//! A set of small numbers that any thread may change: one bit for each, one atomic
//! read-modify-write for each change.
//!
//! Every 64 numbers have a cache line of their own, so one load reads a whole set of up to 64. The
//! set gives no order beyond that of its read-modify-writes (all `SeqCst`). A thread that changes
//! the set and then looks elsewhere needs a fence between
//! ([`sched::pool::idle`](crate::sched::pool::idle) has one).

use crate::base::pad::CachePadded;
use crate::shim::atomic::{AtomicU64, Ordering};

/// A fixed range of bits, all clear at first.
#[derive(Debug)]
pub(crate) struct AtomicBits(Box<[CachePadded<AtomicU64>]>);

impl AtomicBits {
    /// Creates a set that can hold `0..len`.
    pub(crate) fn new(len: usize) -> Self {
        let words = len.div_ceil(BITS).max(1);
        AtomicBits(
            (0..words)
                .map(|_| CachePadded::new(AtomicU64::new(0)))
                .collect(),
        )
    }

    /// Sets bit `i`; returns its previous value.
    pub(crate) fn set(&self, i: usize) -> bool {
        let bit = 1 << (i % BITS);
        self.0[i / BITS].fetch_or(bit, Ordering::SeqCst) & bit != 0
    }

    /// Clears bit `i`; returns its previous value.
    pub(crate) fn clear(&self, i: usize) -> bool {
        let bit = 1 << (i % BITS);
        self.0[i / BITS].fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }

    /// Returns whether bit `i` was set when its word was read.
    pub(crate) fn get(&self, i: usize) -> bool {
        self.0[i / BITS].load(Ordering::Relaxed) & 1 << (i % BITS) != 0
    }

    /// Clears the first set bit at or after `from` (wrapping around) and returns its number.
    /// Exactly one caller gets each bit.
    pub(crate) fn take_first(&self, from: usize) -> Option<usize> {
        let words = self.0.len();
        let first = from / BITS % words;
        let upper = u64::MAX << (from % BITS);
        for step in 0..=words {
            let mask = match step {
                0 => upper,
                last if last == words => !upper,
                _ => u64::MAX,
            };
            let word = (first + step) % words;
            if let Some(bit) = take_from(&self.0[word], mask) {
                return Some(word * BITS + bit);
            }
        }
        None
    }

    /// Returns true if some bit was set when its word was read. Up to 64 bits: one plain load.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        // PERF: no loop for one word: 6 instructions less for a spawn (bench guard).
        match &*self.0 {
            [word] => word.load(Ordering::Relaxed) != 0,
            words => any_of(words),
        }
    }

    /// Returns the number of bits that were set when their words were read.
    pub(crate) fn count(&self) -> usize {
        self.0
            .iter()
            .map(|word| word.load(Ordering::Relaxed).count_ones() as usize)
            .sum()
    }
}

#[inline(never)]
fn any_of(words: &[CachePadded<AtomicU64>]) -> bool {
    words.iter().any(|word| word.load(Ordering::Relaxed) != 0)
}

/// Clears the lowest set bit of `word` under `mask` and returns its position.
fn take_from(word: &AtomicU64, mask: u64) -> Option<usize> {
    let mut seen = word.load(Ordering::Relaxed) & mask;
    while seen != 0 {
        let bit = seen & seen.wrapping_neg();
        let before = word.fetch_and(!bit, Ordering::SeqCst);
        if before & bit != 0 {
            return Some(bit.trailing_zeros() as usize);
        }
        seen = before & mask;
    }
    None
}

/// Bits in a word.
const BITS: usize = u64::BITS as usize;
