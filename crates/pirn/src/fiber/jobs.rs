//! Pending jobs: second halves of `par::join` that are not fibers yet.
//!
//! Owns: the record of a job, and the list of those of the running fiber. Does not own:
//! the word by which other threads request some of them (`beat_word`), how a job becomes
//! a fiber (`par::task`), or when (`sched::worker::heartbeat`).
//!
//! A job is in the frame of its `join`, and belongs to the owner alone. The fiber with
//! that frame pushes it, and pops or promotes it, with plain loads and stores. Jobs are
//! never stolen: a thief requests one, and then takes a fiber.
//!
//! | a job is | when | entered by |
//! |---|---|---|
//! | pending | in the list, `promote` is there | `push` |
//! | taken along | in its fiber's [`Along`], `promote` is there | `take_along`, until `bring_back` |
//! | its join's again | not in the list, `promote` is there | `pop`, by its join, as the newest |
//! | promoted | not in the list, `promote` is none | `promote_oldest`: a fresh fiber has the work |
//!
//! Its words are from `std`, not from `shim`: one of the lists is static, which loom's
//! words cannot be in. loom does not check joins (`par/modelled.rs`), except for the word
//! `beat`. shuttle does, and an access to their words is not a scheduling point.
//!
//! # Invariants
//! * JO1. The list is the worker's, and all jobs in it are the running fiber's. A fiber
//!   that leaves its stack, or blocks its thread, or polls a future, promotes all before;
//!   one that yields at a beat takes them along. So the list is empty whenever another
//!   fiber runs.
//! * JO2. The list is ordered from outer frames to inner ones. So a job that is pending
//!   when the first half of its join is over is the newest, and the fiber is still where
//!   it pushed it, on the same thread.
//! * JO3. A [`Jobs`] lives as long as its worker does, and does not move: jobs and
//!   regions point to its root. The static one of threads that are not workers lives as
//!   long as the process, is always due, and is never pushed to.
//! * JO4. While a job is pending, `newer` of the root is the oldest one, and each but the
//!   newest has its `newer`; each has its `older`, which of the oldest is the root.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

pub(crate) use super::beat_word::Beat;
use super::beat_word::BeatWord;
use super::current::Local;
use crate::base::mutant::mutant;

/// The pending jobs of the fiber that runs on one worker.
///
/// On cache lines of its own, since the owner reads it at each join; and on a pair of
/// them, which processors fetch together.
///
/// ORDERING: all Relaxed, except for `beat` (`beat_word`). A word says that a thread may
/// look; no data depends on it. Other threads get fibers, ordered by the queues that
/// these are put into.
#[repr(align(128))]
pub(crate) struct Jobs {
    /// Any thread adds reasons; the owner takes them.
    beat: BeatWord,
    /// The newest job, or the root. Written by the owner; idle workers and the monitor
    /// read from it whether there are any.
    newest: AtomicPtr<Job>,
    /// The number of further jobs that may be promoted for the last beat. The owner's.
    credit: Cell<usize>,
    /// Other fibers wanted this thread at the last beat. Written by the owner, read by
    /// the monitor.
    crowded: AtomicBool,
    /// The node before the oldest job (JO4). The owner's.
    root: Job,
}

// SAFETY: JO1: all but the atomic words is the owner's; of the static list, nothing else
// is ever written (JO3).
unsafe impl Sync for Jobs {}
// SAFETY: it has no tie to the thread that created it. It points to its own root, and
// while its owner runs a fiber there, to jobs of that fiber.
unsafe impl Send for Jobs {}

/// One job; the first part of the record that `par` keeps of it.
pub(crate) struct Job {
    /// There while it is pending and not the newest; of the root, if any is pending
    /// (JO4). Owner.
    newer: Cell<MaybeUninit<*const Job>>,
    /// There while it is pending. Owner.
    older: Cell<MaybeUninit<*const Job>>,
    /// None once it is promoted, and of the root. Taken by the owner; its join and
    /// regions inside of it (`fiber::cancel_scope`) read from it whether the job was
    /// promoted.
    promote: Cell<Option<Promote>>,
    /// Where the join was called.
    pub(crate) at: &'static Location<'static>,
}

/// The jobs of a fiber that has yielded, in the frame of the join at which it did: at
/// least one, linked as before (JO4).
pub(crate) struct Along {
    oldest: *const Job,
    newest: *mut Job,
}

/// Makes a fiber of a job that has been taken out of the list; true if another fiber
/// waits for it. Gets the pointer that was pushed, which reaches the whole record that
/// the job is the first part of: a `&Job` would not do. Does not unwind.
pub(crate) type Promote = unsafe fn(NonNull<Job>, &Local, bool);

/// The list of plain threads.
static NOBODYS: Jobs = Jobs {
    beat: BeatWord::always(),
    newest: AtomicPtr::new((&raw const NOBODYS.root).cast_mut()),
    credit: Cell::new(0),
    crowded: AtomicBool::new(false),
    root: Job {
        newer: Cell::new(MaybeUninit::uninit()),
        older: Cell::new(MaybeUninit::uninit()),
        promote: Cell::new(None),
        at: Location::caller(),
    },
};

impl Jobs {
    /// Creates an empty list without a watching thread; every join handles a beat if
    /// `always`.
    pub(crate) fn new(always: bool) -> Arc<Jobs> {
        let why = if always { Beat::ALWAYS } else { Beat::ARMED };
        let jobs = Arc::new(Jobs {
            beat: BeatWord::new(why),
            newest: AtomicPtr::new(ptr::null_mut()),
            credit: Cell::new(0),
            crowded: AtomicBool::new(false),
            root: Job::new(Location::caller(), None),
        });
        let root = ptr::from_ref(&jobs.root).cast_mut();
        jobs.newest.store(root, Ordering::Relaxed);
        jobs
    }

    /// Returns the list of threads that are not workers.
    pub(crate) const fn none() -> &'static Jobs {
        &NOBODYS
    }

    /// Returns whether this is the list of threads that are not workers.
    #[inline(always)]
    pub(crate) fn has_no_owner(&self) -> bool {
        ptr::eq(self, &raw const NOBODYS)
    }

    /// Returns whether the next join is to handle a beat.
    #[inline(always)]
    pub(crate) fn is_due(&self) -> bool {
        self.beat.is_due()
    }

    /// Sets a request for the owner's next join; false if it was already set. Any thread.
    pub(crate) fn ask(&self, why: Beat) -> bool {
        self.beat.ask(why)
    }

    /// Makes the owner notify the monitor of its next join, at which the owner sees all
    /// that the caller did before. Any thread.
    pub(crate) fn arm(&self) {
        self.beat.arm();
    }

    /// *Owner.* Returns the reasons of the beat, and clears them.
    pub(crate) fn take_beat(&self) -> Beat {
        self.beat.take()
    }

    /// *Owner.* Returns the promotions that are left of the last beat.
    pub(crate) fn credit(&self) -> &Cell<usize> {
        &self.credit
    }

    /// *Owner.* Records whether other fibers want this thread.
    pub(crate) fn set_crowded(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// Returns whether other fibers wanted this thread at the last beat.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded.load(Ordering::Relaxed)
    }

    /// Returns whether any job is pending. Stale when it returns, except to the owner.
    #[inline(always)]
    pub(crate) fn has_pending(&self) -> bool {
        !ptr::eq(self.newest.load(Ordering::Relaxed), &raw const self.root)
    }

    /// *Owner.* Returns the newest job, or the root: the predecessor of the next job.
    #[inline(always)]
    pub(crate) fn newest(&self) -> *const Job {
        self.newest.load(Ordering::Relaxed)
    }

    /// *Owner.* Adds a job.
    ///
    /// # Safety
    /// JO1, JO2: by a fiber of this list's worker, from an inner frame. The job stays
    /// where it is until it is popped, or promoted and the fiber made of it has ended.
    /// The pointer covers all that its `promote` reaches.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, job: NonNull<Job>) {
        let newest = self.newest.load(Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { job.as_ref() }.older.set(MaybeUninit::new(newest));
        // SAFETY: JO2: pending, so it is where it was pushed; or the root.
        unsafe { &*newest }
            .newer
            .set(MaybeUninit::new(job.as_ptr()));
        self.newest.store(job.as_ptr(), Ordering::Relaxed);
    }

    /// *Owner.* Removes all jobs, for the running fiber, which is about to yield.
    pub(crate) fn take_along(&self) -> Option<Along> {
        if !self.has_pending() {
            return None;
        }
        let root = ptr::from_ref(&self.root).cast_mut();
        Some(Along {
            // SAFETY: JO4: a job is pending.
            oldest: unsafe { self.root.newer.get().assume_init() },
            newest: self.newest.swap(root, Ordering::Relaxed),
        })
    }

    /// *Owner.* Puts the jobs of the running fiber back after it resumed on the same
    /// worker.
    ///
    /// # Safety
    /// They have been taken from here, and that fiber has pushed and popped nothing
    /// since.
    pub(crate) unsafe fn bring_back(&self, along: Along) {
        debug_assert!(!self.has_pending(), "another fiber has left its jobs");
        let Along { oldest, newest } = along;
        self.root.newer.set(MaybeUninit::new(oldest));
        // SAFETY: JO2: pending, so it is where it was pushed.
        unsafe { &*oldest }
            .older
            .set(MaybeUninit::new(&raw const self.root));
        self.newest.store(newest, Ordering::Relaxed);
    }

    /// *Owner.* Pops the newest job.
    ///
    /// # Safety
    /// JO2: it has been pushed here, and is pending.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, job: &Job) {
        debug_assert!(
            ptr::eq(self.newest.load(Ordering::Relaxed), job),
            "a join ends before those inside it have"
        );
        // SAFETY: the caller's promise.
        let older = unsafe { job.older.get().assume_init() };
        self.newest.store(older.cast_mut(), Ordering::Relaxed);
    }

    /// *Owner.* Makes a fiber of the oldest job, for which another fiber waits if it is
    /// `wanted`; false if there is none.
    pub(crate) fn promote_oldest(&self, local: &Local, wanted: bool) -> bool {
        if !self.has_pending() {
            return false;
        }
        // SAFETY: JO4: a job is pending.
        let oldest = unsafe { self.root.newer.get().assume_init() };
        // SAFETY: JO2: pending, so it is where it was pushed.
        let job = unsafe { &*oldest };
        if ptr::eq(self.newest.load(Ordering::Relaxed), oldest) {
            let root = ptr::from_ref(&self.root).cast_mut();
            self.newest.store(root, Ordering::Relaxed);
        } else {
            // SAFETY: JO4: it is pending, and not the newest.
            let next = unsafe { job.newer.get().assume_init() };
            self.root.newer.set(MaybeUninit::new(next));
            // SAFETY: JO2: pending, so it is where it was pushed.
            unsafe { &*next }
                .older
                .set(MaybeUninit::new(&raw const self.root));
        }
        let promote = job.promote.take().expect("a pending job can be promoted");
        // SAFETY: `push` created it from a `NonNull`.
        let pushed = unsafe { NonNull::new_unchecked(oldest.cast_mut()) };
        // SAFETY: it comes with the job, which has just been taken out of the list.
        unsafe { promote(pushed, local, wanted) };
        true
    }
}

impl Job {
    #[inline(always)]
    pub(crate) const fn new(
        at: &'static Location<'static>,
        promote: Option<Promote>,
    ) -> Job {
        Job {
            newer: Cell::new(MaybeUninit::uninit()),
            older: Cell::new(MaybeUninit::uninit()),
            promote: Cell::new(promote),
            at,
        }
    }

    /// Returns whether its join has to run it; otherwise a fiber does.
    #[inline(always)]
    pub(crate) fn is_pending(&self) -> bool {
        self.promote.get().is_some()
    }
}

/// Makes fibers of all pending jobs of the running fiber, which is about to leave its
/// stack, or to stay on it without running (JO1).
#[inline(always)]
pub(crate) fn promote_all(local: &Local) {
    let jobs = local.jobs();
    if jobs.has_pending() && !mutant!("left_over_jobs") {
        promote_each(local, jobs);
    }
}

#[cold]
#[inline(never)]
fn promote_each(local: &Local, jobs: &Jobs) {
    while jobs.promote_oldest(local, false) {}
}
