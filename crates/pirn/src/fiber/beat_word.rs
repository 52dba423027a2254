//! The word by which others have the joins of a worker look up.
//!
//! Owns: the reasons to look up, and in which order they become visible. Does not own: what
//! follows from each (`sched::beat`).
//!
//! Not of `shim`, but under loom: under shuttle it is no place to switch at.

#[cfg(not(loom))]
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use crate::base::mutant::{mutant, or_relaxed};
#[cfg(loom)]
use crate::shim::atomic::AtomicU32;

/// Why the next join is to look up: any of the reasons here, or none. What follows from
/// each: `sched::beat`.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Beat(u32);

impl Beat {
    /// No thread looks after the joins of this worker: the monitor is to be told of one.
    pub(crate) const ARMED: Beat = Beat(1);
    /// Some worker has nothing to do.
    pub(crate) const ASKED: Beat = Beat(2);
    /// Promotions are left of the last beat.
    pub(crate) const AGAIN: Beat = Beat(4);
    /// The running fiber has run for long: others may want its thread.
    pub(crate) const GIVE_WAY: Beat = Beat(8);
    /// Every join looks up: on threads that are no workers, and where a seed decides.
    pub(crate) const ALWAYS: Beat = Beat(16);

    /// Whether `reason` is among these.
    pub(crate) fn has(self, reason: Beat) -> bool {
        self.0 & reason.0 != 0
    }
}

/// A [`Beat`]. Any thread adds reasons; the owner takes them.
///
/// ORDERING: Relaxed but for [`arm`](Self::arm): a word says that the owner is to look, or may;
/// nothing is read on account of it. What goes to others is a fiber, by the queue that it is put
/// into.
#[derive(Debug)]
pub(super) struct BeatWord(Word);

#[cfg(not(loom))]
type Word = AtomicU32;
/// loom's words cannot be in a static: the one of plain threads has none.
#[cfg(loom)]
type Word = Option<AtomicU32>;

impl BeatWord {
    #[cfg(not(loom))]
    pub(super) const fn always() -> BeatWord {
        BeatWord(AtomicU32::new(Beat::ALWAYS.0))
    }

    #[cfg(loom)]
    pub(super) const fn always() -> BeatWord {
        BeatWord(None)
    }

    pub(super) fn new(why: Beat) -> BeatWord {
        let word = AtomicU32::new(why.0);
        #[cfg(loom)]
        let word = Some(word);
        BeatWord(word)
    }

    #[cfg(not(loom))]
    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        &self.0
    }

    #[cfg(loom)]
    fn word(&self) -> &AtomicU32 {
        self.0.as_ref().expect("a worker's")
    }

    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.word().load(Ordering::Relaxed) != 0
    }

    /// As [`Jobs::ask`](super::jobs::Jobs::ask).
    pub(super) fn ask(&self, why: Beat) -> bool {
        // Its line is the owner's, which should not lose it for nothing.
        let is_new = !Beat(self.word().load(Ordering::Relaxed)).has(why);
        if is_new {
            self.word().fetch_or(why.0, Ordering::Relaxed);
        }
        is_new
    }

    /// As [`Jobs::arm`](super::jobs::Jobs::arm).
    pub(super) fn arm(&self) {
        if mutant!("beat_armed_if_new") {
            self.ask(Beat::ARMED);
            return;
        }
        // ORDERING: Release, and written also if the reason is there: pairs with `take`. The
        // owner either takes this one, and sees what the caller did before, or took the one
        // before it, and finds this one at its next join.
        let order = or_relaxed!(Ordering::Release, "beat_armed_relaxed");
        self.word().fetch_or(Beat::ARMED.0, order);
    }

    /// As [`Jobs::take_beat`](super::jobs::Jobs::take_beat).
    pub(super) fn take(&self) -> Beat {
        let beat = self.word().load(Ordering::Relaxed);
        // ORDERING: Acquire: pairs with `arm`.
        let order = or_relaxed!(Ordering::Acquire, "beat_taken_relaxed");
        self.word().fetch_and(!beat | Beat::ALWAYS.0, order);
        Beat(beat)
    }
}
