//! The exit of a channel: values that receivers take without the channel's lock.
//!
//! Between threads the channel's lock and what lies under it go to and fro with every value:
//! a tenth of a microsecond. So a receiver that had to wait for the lock takes all that is in
//! the buffer out to here, where a second lock passes among receivers only. While that pays
//! it goes on so, and waits for a moment each time, so that the next batch is a large one. Where
//! nobody contends, nothing ever comes here.
//!
//! # Invariants
//! * X1. `len` is the length of `values`, written while their lock is held. It grows only
//!   while the channel's lock is held as well: so who holds that, and reads zero, knows that
//!   there is nothing here, and that there will not be.
//! * X2. What is here is older than all that is in the buffer.
//! * X3. There is something here only while nobody waits to send or watches for it: to take a
//!   value from here changes nothing for anyone but those who find the channel full. Who is
//!   about to wait for room takes all of it back first, under the channel's lock.

use std::fmt;
use std::mem;

use super::buffer::Row;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::hint::spin_loop;
use crate::shim::{self, Lock};

/// Values on their way out. The channel's lock is taken before the one in here.
pub(super) struct Exit<T> {
    len: AtomicUsize,
    /// How many values came the last time; 0 if they no longer do.
    batch: AtomicUsize,
    /// Whether values have ever come.
    opened: AtomicBool,
    values: Lock<Row<T>>,
}

impl<T> Exit<T> {
    pub(super) fn new(values: Row<T>) -> Self {
        Exit {
            len: AtomicUsize::new(0),
            batch: AtomicUsize::new(0),
            opened: AtomicBool::new(false),
            values: Lock::new(values),
        }
    }

    /// How many values are here; exact, or too many, if the channel's lock is held.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // ORDERING: Relaxed: an opinion without the channel's lock; with it, X1: whatever was
        // brought here happened before.
        self.len.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether values have ever come here. Who has seen, by an acquiring load, what the channel
    /// was after they came, is told so.
    pub(super) fn was_opened(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }

    /// Whether values come here at present: an opinion.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        // ORDERING: Relaxed, as all of `batch`: whoever is mistaken finds the exit empty, or
        // takes the values back under the channel's lock.
        self.batch.load(Ordering::Relaxed) > 0
    }

    /// Lets values gather in the buffer for a moment, if few came here the last time.
    pub(super) fn gather(&self) {
        if shim::WATCHING_PAYS && self.batch.load(Ordering::Relaxed) < FEW {
            for _ in 0..PAUSES {
                spin_loop();
            }
        }
    }

    /// Takes the oldest value.
    #[inline(never)]
    pub(super) fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut values = self.values.lock();
        let value = values.pop();
        self.len.store(values.len(), Ordering::Relaxed);
        value
    }

    /// Notes that values no longer come here. The channel's lock is held, and none is here.
    pub(super) fn calm(&self) {
        self.batch.store(0, Ordering::Relaxed);
    }

    /// Brings `values` here, and leaves an empty row in their place. The channel's lock is
    /// held, and there is nothing here.
    pub(super) fn fill(&self, values: &mut Row<T>) {
        let mut here = self.values.lock();
        mem::swap(&mut *here, values);
        self.len.store(here.len(), Ordering::Relaxed);
        self.batch.store(here.len(), Ordering::Relaxed);
        self.opened.store(true, Ordering::Relaxed);
    }

    /// Takes all values back, to `row`, which is empty. The channel's lock is held.
    pub(super) fn take_back(&self, row: &mut Row<T>) {
        let mut here = self.values.lock();
        mem::swap(&mut *here, row);
        self.len.store(0, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for Exit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exit")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Who brings fewer values here lets them gather before it takes the channel's lock again.
/// Measured on two cores with the next: `threads-*` of the benchmarks.
const FEW: usize = 200;

/// For so many pauses of the processor: one or two microseconds, in which the sender has the
/// channel's lock to itself. With 8, two threads at either end of a thousand places took one and
/// a half times as long for a value.
const PAUSES: u32 = 40;
