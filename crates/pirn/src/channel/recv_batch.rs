//! The exit of a channel: values that receivers take without the channel's lock.
//!
//! Between threads, the channel's lock and the data that it protects move between cores with every
//! value: a tenth of a microsecond. So a receiver that had to wait for the lock moves the whole
//! buffer here, where a second lock passes among receivers only. Receivers continue so while it
//! pays, and pause briefly each time, so that the next batch is large. Without contention the exit
//! stays empty.
//!
//! # Invariants
//! * X1. `len` is the length of `values`, written while their lock is held. It grows only while the
//!   channel's lock is held as well. So a holder of that lock that reads zero knows that the exit
//!   is empty and stays so.
//! * X2. Values here are older than all values in the buffer.
//! * X3. Values are here only while no party waits to send or watches the send side. So taking one
//!   affects only parties that find the channel full. A sender that is about to wait for room first
//!   moves all of them back, under the channel's lock.

use std::fmt;
use std::mem;

use super::buffer::Row;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::hint::spin_loop;
use crate::shim::{self, Lock};

/// Values on their way out. Lock order: the channel's lock before the one in here.
pub(super) struct RecvBatch<T> {
    len: AtomicUsize,
    /// The size of the last batch; 0 if the exit is no longer used.
    batch: AtomicUsize,
    /// Whether values were ever moved here.
    opened: AtomicBool,
    values: Lock<Row<T>>,
}

impl<T> RecvBatch<T> {
    pub(super) fn new(values: Row<T>) -> Self {
        RecvBatch {
            len: AtomicUsize::new(0),
            batch: AtomicUsize::new(0),
            opened: AtomicBool::new(false),
            values: Lock::new(values),
        }
    }

    /// Returns the number of values here. It is exact, or too high, if the channel's lock is held.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // ORDERING: Relaxed: a hint without the channel's lock. With the lock, X1: the move of the
        // values to the exit happened before.
        self.len.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether values were ever moved here. A caller that has read, with an acquiring load,
    /// a state of the channel written after such a move sees true.
    pub(super) fn was_opened(&self) -> bool {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns whether the exit is in use at present; a hint.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        // ORDERING: Relaxed, as all of `batch`: a caller with a stale value finds the exit empty,
        // or moves the values back under the channel's lock.
        self.batch.load(Ordering::Relaxed) > 0
    }

    /// Pauses so that values accumulate in the buffer, if the last batch was small.
    pub(super) fn spin_for_batch(&self) {
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

    /// Records that the exit is no longer used. The channel's lock is held, and the exit is empty.
    pub(super) fn disable(&self) {
        self.batch.store(0, Ordering::Relaxed);
    }

    /// Moves `values` here and leaves an empty row in their place. The channel's lock is held, and
    /// the exit is empty.
    pub(super) fn fill(&self, values: &mut Row<T>) {
        let mut here = self.values.lock();
        mem::swap(&mut *here, values);
        self.len.store(here.len(), Ordering::Relaxed);
        self.batch.store(here.len(), Ordering::Relaxed);
        self.opened.store(true, Ordering::Relaxed);
    }

    /// Moves all values back to `row`, which is empty. The channel's lock is held.
    pub(super) fn take_back(&self, row: &mut Row<T>) {
        let mut here = self.values.lock();
        mem::swap(&mut *here, row);
        self.len.store(0, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for RecvBatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvBatch")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Below this batch size a receiver pauses before it takes the channel's lock again. Measured on
/// two cores, together with `PAUSES`: `threads-*` of the benchmarks.
const FEW: usize = 200;

/// Length of that pause in spin-loop hints: one or two microseconds, in which the sender has the
/// channel's lock to itself. With 8, a value took 1.5 times as long, with two threads at each end
/// and a capacity of 1,000.
const PAUSES: u32 = 40;
