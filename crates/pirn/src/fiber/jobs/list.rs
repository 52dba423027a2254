//! Pending jobs: second halves of `par::join` that are not fibers yet.
//!
//! Owns: the record of a job, and the list of those of the running fiber. Does not own:
//! the word by which other threads request promotions (`beat_word`), how a job becomes a
//! fiber (`par::fork::task`), or when (`sched::worker::heartbeat`).
//!
//! A job is in the frame of its `join`, and belongs to the owner alone. The fiber with
//! that frame pushes it, and pops or promotes it, with plain loads and stores. Jobs are
//! never stolen: a thief requests one, and then takes a fiber.
//!
//! | a job is | where | `promote` | entered by |
//! |---|---|---|---|
//! | pending | in the list | `Some` | `push` |
//! | taken along | in its fiber's [`Along`] | `Some` | `take_along`, until `bring_back` |
//! | popped | in no list | `Some` | `pop`, by its join, as the newest |
//! | promoted | in no list | `None` | `promote_oldest`: a fresh fiber has the work |
//!
//! The atomics are from `std`, not from `shim`: one of the lists is static, and modelled
//! words cannot be in every static. So models of one protocol do not check joins
//! (`par/modelled.rs`), except for the word `beat`. Models of the whole runtime do, but
//! an access to these atomics is not a scheduling point.
//!
//! # Invariants
//! * JO1. Only the worker's thread accesses the list. All jobs in it are in frames that
//!   this thread is in: those of the running fiber, and of code that runs as the thread
//!   (a callback, a waker). Such code pops its jobs before it returns, and none is
//!   promoted: a join there serves no request. Before a fiber leaves its stack, it
//!   promotes all of its jobs; one that yields at a beat takes them along. So the list is
//!   empty whenever another fiber starts to run. (A fiber also promotes its jobs before
//!   it polls a future that it waits for, or announces that it blocks its thread, so that
//!   others can run them meanwhile. A join inside may push a new one.)
//! * JO2. The list is ordered from outer frames to inner ones. So if a job is still
//!   pending when the first half of its join ends, it is the newest, and its fiber is on
//!   the same thread as when it pushed the job.
//! * JO3. A [`Jobs`] lives as long as its worker does, and does not move: jobs and
//!   regions point to its root. The static one of threads that are not workers lives as
//!   long as the process, is always due, and is never pushed to.
//! * JO4. While a job is pending, `newer` of the root is the oldest job. All pending jobs
//!   have an initialized `older`, and all but the newest an initialized `newer`. `older`
//!   of the oldest is the root.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::beat_word::{Beat, BeatWord};

/// The pending jobs of the fiber that runs on one worker.
///
/// On a cache line of its own, since the owner reads it at each join; and on a pair of
/// lines, since processors fetch two together.
///
/// ORDERING: all Relaxed, except for `beat` (`beat_word`). The atomics are hints; no data
/// depends on them. Other threads get fibers, ordered by the queues that these are pushed
/// to.
#[repr(align(128))]
pub(crate) struct Jobs {
    /// Any thread adds reasons; the owner takes them.
    beat: BeatWord,
    /// The newest job, or the root. Written by the owner; idle workers and the monitor
    /// read it to find out whether there are any jobs.
    newest: AtomicPtr<Job>,
    /// The number of further jobs that may be promoted for the last beat. Accessed by the
    /// owner only.
    credit: Cell<usize>,
    /// Whether other fibers wanted this thread at the last beat. Written by the owner,
    /// read by the monitor.
    crowded: AtomicBool,
    /// The node before the oldest job (JO4). Accessed by the owner only.
    root: Job,
}

// SAFETY: JO1: only the owner accesses the fields that are not atomic. In the static
// list, these are never written (JO3).
unsafe impl Sync for Jobs {}
// SAFETY: it has no tie to the thread that created it. It points to its own root and,
// while its owner runs a fiber, to jobs of that fiber.
unsafe impl Send for Jobs {}

/// One job; the first part of the record that `par` keeps of it.
pub(crate) struct Job {
    /// Initialized while the job is pending and not the newest; in the root, while any
    /// job is pending (JO4). Accessed by the owner only.
    newer: Cell<MaybeUninit<*const Job>>,
    /// Initialized while the job is pending. Accessed by the owner only.
    older: Cell<MaybeUninit<*const Job>>,
    /// `None` in the root, and once the job is promoted. Taken by the owner; the job's
    /// join and the regions inside it (`fiber::cancel::scope`) read it to find out
    /// whether the job was promoted.
    promote: Cell<Option<Promote>>,
    /// Where the join was called.
    pub(crate) at: &'static Location<'static>,
}

/// The jobs of a fiber that has yielded at a join, kept in the frame of that join: at
/// least one, linked as before (JO4).
pub(crate) struct Along {
    oldest: *const Job,
    newest: *mut Job,
}

/// Turns a job that has been taken out of the list into a fiber; called on the thread of
/// its owner. The flag is true if another fiber waits for it. The pointer is the one that
/// was pushed: it covers the whole record of which the job is the first part, and a
/// `&Job` would not. Does not unwind.
pub(crate) type Promote = unsafe fn(NonNull<Job>, bool);

/// The list of plain threads.
static UNOWNED: Jobs = Jobs {
    beat: BeatWord::always(),
    newest: AtomicPtr::new((&raw const UNOWNED.root).cast_mut()),
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
        &UNOWNED
    }

    /// Returns whether this is the list of threads that are not workers.
    #[inline(always)]
    pub(crate) fn has_no_owner(&self) -> bool {
        ptr::eq(self, &raw const UNOWNED)
    }

    /// Returns whether the next join is to handle a beat.
    #[inline(always)]
    pub(crate) fn is_due(&self) -> bool {
        self.beat.is_due()
    }

    /// Sets a request for the owner's next join; returns false if it was already set. Any
    /// thread may call it.
    pub(crate) fn request(&self, why: Beat) -> bool {
        self.beat.request(why)
    }

    /// Requests that the owner notify the monitor at its next join. There the owner sees
    /// all that the caller did before this call. Any thread may call it.
    pub(crate) fn arm(&self) {
        self.beat.arm();
    }

    /// *Owner.* Returns the reasons of the beat, and clears them.
    pub(crate) fn take_beat(&self) -> Beat {
        self.beat.take()
    }

    /// *Owner.* Returns the number of promotions that are left of the last beat.
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
    /// JO1, JO2: the caller is on the thread of this list's worker, and no pending job is
    /// in a more inner frame. The job does not move until it is popped, or promoted
    /// and the fiber made of it has ended. The pointer covers all that its `promote`
    /// accesses.
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

    /// *Owner.* Removes and returns all pending jobs, of the running fiber, which is to
    /// yield; returns `None` if there are none.
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
    /// The jobs were taken from this list, and that fiber has pushed and popped nothing
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
            "a join ends before a join inside it"
        );
        // SAFETY: the caller's promise.
        let older = unsafe { job.older.get().assume_init() };
        self.newest.store(older.cast_mut(), Ordering::Relaxed);
    }

    /// *Owner.* Promotes the oldest job; returns false if there is none. `wanted` is true
    /// if another fiber waits for it.
    pub(crate) fn promote_oldest(&self, wanted: bool) -> bool {
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
        // SAFETY: `push` stored it from a `NonNull`.
        let pushed = unsafe { NonNull::new_unchecked(oldest.cast_mut()) };
        // SAFETY: `promote` belongs to this job, which has just been taken out of the
        // list.
        unsafe { promote(pushed, wanted) };
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

    /// Returns whether the job's join has to run it; otherwise a fiber does.
    #[inline(always)]
    pub(crate) fn is_pending(&self) -> bool {
        self.promote.get().is_some()
    }
}
