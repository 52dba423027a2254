//! Pending jobs: second halves of `par::join` that nobody has taken yet.
//!
//! Owns: the record of a job, and the list of those of the running fiber. Does not own:
//! the word by which others ask for some of them (`beat_word`), how a job becomes a fiber
//! (`par::task`), nor when (`sched::beat`).
//!
//! A job lies in the frame of its `join`, and is the owner's alone: it is pushed, and
//! popped or promoted, by the fiber in whose frames it lies, with plain loads and stores.
//! Nobody steals a job; a thief asks for one, and what it then takes is a fiber.
//!
//! | a job is | when | entered by |
//! |---|---|---|
//! | pending | in the list, `promote` is there | `push` |
//! | taken along | in its fiber's [`Along`], `promote` is there | `take_along`, until `bring_back` |
//! | its join's again | not in the list, `promote` is there | `pop`, by its join, as the newest |
//! | promoted | not in the list, `promote` is none | `promote_oldest`: a fresh fiber has the work |
//!
//! Its words are `std`'s and not `shim`'s: one of the lists is static, which loom's words
//! cannot be in. Joins are not among what loom looks at (`par/modelled.rs`), but for the
//! word `beat`; under shuttle they are, and a word of theirs is no place to switch at.
//!
//! # Invariants
//! * JO1. The list is the worker's, and whatever is in it is the running fiber's: who
//!   leaves its stack, or blocks its thread, or polls a future, promotes all before; one
//!   that gives way at a beat takes them along. So the list is empty whenever another
//!   fiber runs.
//! * JO2. The list goes from outer frames to inner ones. So a job that is pending when
//!   the first half of its join is over is the newest, and the fiber is still where it
//!   pushed it, on the same thread.
//! * JO3. A [`Jobs`] lives as long as its worker does, and does not move: jobs and
//!   regions point to its root. The one of threads that are no workers lives for ever, is
//!   always due, and nothing is ever pushed to it.
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
/// On lines of its own, since the owner looks there at each join; and on a pair of them,
/// which processors fetch together.
///
/// ORDERING: all Relaxed, but for `beat` (`beat_word`). A word says that a thread may
/// look; nothing is read on account of it. What goes to others is a fiber, by the queue
/// that it is put into.
#[repr(align(128))]
pub(crate) struct Jobs {
    /// Any thread adds reasons; the owner takes them.
    beat: BeatWord,
    /// The newest job, or the root. Written by the owner; workers without work and the
    /// monitor see from it whether there are any.
    newest: AtomicPtr<Job>,
    /// How many more jobs may be promoted for the last beat. The owner's.
    credit: Cell<usize>,
    /// Others have wanted this thread at the last beat. Written by the owner, read by the
    /// monitor.
    crowded: AtomicBool,
    /// Stands before the oldest job (JO4). The owner's.
    root: Job,
}

// SAFETY: JO1: all but the atomic words is the owner's; of nobody's, nothing else is ever
// written (JO3).
unsafe impl Sync for Jobs {}
// SAFETY: nothing in it is of the thread that has made it. What it points to is its own
// root, and while its owner runs a fiber there, jobs of that fiber.
unsafe impl Send for Jobs {}

/// One job; the first part of what `par` keeps of it.
pub(crate) struct Job {
    /// There while it is pending and not the newest; of the root, if any is pending
    /// (JO4). Owner.
    newer: Cell<MaybeUninit<*const Job>>,
    /// There while it is pending. Owner.
    older: Cell<MaybeUninit<*const Job>>,
    /// None once it is promoted, and of the root. Taken by the owner; its join and
    /// regions inside of it (`fiber::region`) see from it what has become of the job.
    promote: Cell<Option<Promote>>,
    /// Where the join was called.
    pub(crate) at: &'static Location<'static>,
}

/// The jobs of a fiber that has given way, in the frame of the join at which it did: at
/// least one, linked as they were (JO4).
pub(crate) struct Along {
    oldest: *const Job,
    newest: *mut Job,
}

/// Makes a fiber of a job, which has been taken out of the list; true if somebody waits
/// for it. It is given the pointer that was pushed, by which it reaches what the job is
/// the first part of: a `&Job` would not do. Does not unwind.
pub(crate) type Promote = unsafe fn(NonNull<Job>, &Local, bool);

/// What plain threads have.
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
    /// An empty list, looked after by nobody; every join looks up if `always`.
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

    /// The list of threads that are no workers.
    pub(crate) const fn nobodys() -> &'static Jobs {
        &NOBODYS
    }

    /// Whether this is the list of threads that are no workers.
    #[inline(always)]
    pub(crate) fn is_nobodys(&self) -> bool {
        ptr::eq(self, &raw const NOBODYS)
    }

    /// Whether the next join is to look up.
    #[inline(always)]
    pub(crate) fn is_due(&self) -> bool {
        self.beat.is_due()
    }

    /// Has the owner look up; false if it had been asked to for the same reason, and has
    /// not. Any thread.
    pub(crate) fn ask(&self, why: Beat) -> bool {
        self.beat.ask(why)
    }

    /// Makes the owner tell the monitor of its next join, at which the owner sees all
    /// that the caller did before. Any thread.
    pub(crate) fn arm(&self) {
        self.beat.arm();
    }

    /// *Owner.* Why it is to look up, and from now on is not.
    pub(crate) fn take_beat(&self) -> Beat {
        self.beat.take()
    }

    /// *Owner.* Promotions that are left of the last beat.
    pub(crate) fn credit(&self) -> &Cell<usize> {
        &self.credit
    }

    /// *Owner.* Notes whether others want this thread.
    pub(crate) fn set_crowded(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// Whether others wanted this thread at the last beat.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded.load(Ordering::Relaxed)
    }

    /// Whether any job is pending. Stale when it returns, but to the owner.
    #[inline(always)]
    pub(crate) fn has_pending(&self) -> bool {
        !ptr::eq(self.newest.load(Ordering::Relaxed), &raw const self.root)
    }

    /// *Owner.* What the next job will be pushed upon: the newest one, or the root.
    #[inline(always)]
    pub(crate) fn newest(&self) -> *const Job {
        self.newest.load(Ordering::Relaxed)
    }

    /// *Owner.* Adds a job.
    ///
    /// # Safety
    /// JO1, JO2: by a fiber of this list's worker, from an inner frame; the job stays
    /// where it is until it is popped, or promoted and what was made of it has ended. The
    /// pointer is to all that its `promote` reaches.
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

    /// *Owner.* Takes all jobs along, for the running fiber, which is about to give way.
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

    /// *Owner.* The fiber goes on, on the same worker, and its jobs are here again.
    ///
    /// # Safety
    /// They have been taken from here, and nothing has been pushed or popped by that
    /// fiber since.
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

    /// *Owner.* Takes back the newest job.
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

    /// *Owner.* Makes a fiber of the oldest job, for which somebody waits if it is
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
        // SAFETY: it was made of a `NonNull` by `push`.
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

    /// Whether its join is to do it; otherwise a fiber does.
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
