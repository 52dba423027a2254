//! The word by which other threads notify the joins of a worker.
//!
//! Owns: the reasons of a beat, and the order in which they become visible. Does not own: the
//! effect of each (`sched::worker::heartbeat`).
//!
//! In a model of the whole runtime an access is not a scheduling point (`shim::StaticU32`).

use std::sync::atomic::Ordering;

use crate::base::mutant::{mutant, or_relaxed};
use crate::shim::StaticU32;

/// Why the next join is to handle a beat: any of these reasons, or none. The effect of each:
/// `sched::worker::heartbeat`.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Beat(u32);

impl Beat {
    /// No thread watches the joins of this worker: the monitor is to be notified of one.
    pub(crate) const ARMED: Beat = Beat(1);
    /// Some worker is idle.
    pub(crate) const ASKED: Beat = Beat(2);
    /// Promotions are left of the last beat.
    pub(crate) const AGAIN: Beat = Beat(4);
    /// The running fiber has run for long: others may want its thread.
    pub(crate) const GIVE_WAY: Beat = Beat(8);
    /// Every join handles a beat: on threads that are not workers, and where a seed decides.
    pub(crate) const ALWAYS: Beat = Beat(16);

    /// Returns whether `reason` is among these.
    pub(crate) fn has(self, reason: Beat) -> bool {
        self.0 & reason.0 != 0
    }
}

/// A [`Beat`]. Any thread adds reasons; the owner takes them.
///
/// ORDERING: Relaxed except for [`arm`](Self::arm): a word says that the owner is to look, or may;
/// no data depends on it. Other threads get fibers, ordered by the queues that these are put into.
#[derive(Debug)]
pub(super) struct BeatWord(StaticU32);

impl BeatWord {
    /// The word of plain threads, which is in a static.
    pub(super) const fn always() -> BeatWord {
        BeatWord(StaticU32::in_static(Beat::ALWAYS.0))
    }

    pub(super) fn new(why: Beat) -> BeatWord {
        BeatWord(StaticU32::new(why.0))
    }

    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// As [`Jobs::request`](super::list::Jobs::request).
    pub(super) fn request(&self, why: Beat) -> bool {
        // The cache line is the owner's, which should not lose it without need.
        let is_new = !Beat(self.0.load(Ordering::Relaxed)).has(why);
        if is_new {
            self.0.fetch_or(why.0, Ordering::Relaxed);
        }
        is_new
    }

    /// As [`Jobs::arm`](super::list::Jobs::arm).
    pub(super) fn arm(&self) {
        if mutant!("beat_armed_if_new") {
            self.request(Beat::ARMED);
            return;
        }
        // ORDERING: Release, and written also if the reason is there: pairs with `take`. The owner
        // either takes this one, and sees what the caller did before. Or it took the one before it,
        // and finds this one at its next join.
        let order = or_relaxed!(Ordering::Release, "beat_armed_relaxed");
        self.0.fetch_or(Beat::ARMED.0, order);
    }

    /// As [`Jobs::take_beat`](super::list::Jobs::take_beat).
    pub(super) fn take(&self) -> Beat {
        let beat = self.0.load(Ordering::Relaxed);
        // ORDERING: Acquire: pairs with `arm`.
        let order = or_relaxed!(Ordering::Acquire, "beat_taken_relaxed");
        self.0.fetch_and(!beat | Beat::ALWAYS.0, order);
        Beat(beat)
    }
}
