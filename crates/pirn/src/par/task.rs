//! One job in the frame of its join: the closure, and what becomes of it.
//!
//! Owns: the closure until it is taken, how a fiber is made of it, and the wait for that
//! one. Does not own: when that is done (`sched::beat`, `fiber::jobs`), nor what the
//! fiber inherits (`fiber::region`, `fiber::local`).
//!
//! # Invariants
//! * TA1. The closure is there until it is taken, once: by the join, if the job is
//!   pending when the first half is over; else by the fiber that was made of it, or by
//!   the join again if that fiber has ended without having run it.
//! * TA2. A task that has been promoted stays where it is until `finish` has seen that
//!   fiber end.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};
use std::thread;

use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::fiber::entry;
use crate::fiber::jobs::Job;
use crate::fiber::local::Inheritance;
use crate::fiber::region::{InForce, Region, RegionRef};
use crate::join::{JoinError, Joined};
use crate::sched::beat::{expect_end, queue_job, run_job, take_job_back};
use crate::sched::place::pool_of;
use crate::wait::polling;
use crate::wait::{Reason, Spec};

/// The second half of a join.
#[repr(C)]
pub(super) struct Task<C, B, R> {
    job: Job,
    work: UnsafeCell<ManuallyDrop<B>>,
    /// There once the job has been promoted.
    promoted: Cell<MaybeUninit<NonNull<Promoted<R>>>>,
    /// What `work` returns, and is lent where it runs at its join.
    result: PhantomData<R>,
    context: PhantomData<fn(C)>,
}

/// What is made of a job.
struct Promoted<R> {
    child: Cell<Option<Joined<R>>>,
    /// What the fiber inherits, and has left when its end is told (RG1).
    region: Region,
}

impl<C, B: FnOnce(Option<&mut C>) -> R + Send, R: Send> Task<C, B, R> {
    #[inline(always)]
    pub(super) fn new(at: &'static Location<'static>, work: B) -> Task<C, B, R> {
        Task {
            job: Job::new(at, Some(promote::<C, B, R>)),
            work: UnsafeCell::new(ManuallyDrop::new(work)),
            promoted: Cell::new(MaybeUninit::uninit()),
            result: PhantomData,
            context: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn job(&self) -> &Job {
        &self.job
    }

    /// What is put on the list: a pointer to all of the task.
    #[inline(always)]
    pub(super) fn listed(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    /// # Safety
    /// TA1.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> B {
        // SAFETY: the caller's promise.
        let work = unsafe { &mut *self.work.get() };
        // SAFETY: as above.
        unsafe { ManuallyDrop::take(work) }
    }

    /// Waits for the fiber that was made of the job, and takes its result.
    ///
    /// # Safety
    /// TA2: once, by the join, if the job is not pending any more.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn finish(&self) -> thread::Result<R> {
        // SAFETY: the caller's promise: `promote` has put it there.
        let place = unsafe { self.promoted.get().assume_init() };
        // SAFETY: a box that is not freed before its end, below.
        let child = unsafe { place.as_ref() }.child.take();
        let child = child.expect("a promoted job is finished once");
        self.wait_for(&child);
        let result = match child.take() {
            Ok(result) => Ok(result),
            Err(JoinError::Panicked(payload)) => Err(payload.into_inner()),
            Err(_) => {
                // SAFETY: TA1: the fiber has ended, and did not run it.
                let work = unsafe { self.take() };
                // UNWIND: the join raises it as the panic of this half.
                catch_unwind(AssertUnwindSafe(|| work(None)))
            }
        };
        // SAFETY: made of a box by `promote`; the fiber that looked there has ended
        // (TA2).
        drop(unsafe { Box::from_raw(place.as_ptr()) });
        result
    }

    fn wait_for(&self, child: &Joined<R>) {
        if !child.is_finished() {
            expect_end(current::local());
        }
        let spec = Spec::of(Reason::Join).at(self.job.at);
        let wait = || {
            // TA2: it is not the wake that says so, and the wait must not unwind.
            while !child.is_finished() {
                let _ = child.wait_or(&spec, || {
                    take_job_back(current::local(), child.fiber().ptr());
                });
            }
        };
        match polling::forbids_waiting(current::local()) {
            false => wait(),
            true => polling::apart(wait),
        }
    }
}

/// Makes a fiber of a job of the running fiber's.
///
/// UNWIND: it does not unwind, or nobody would know whose the closure is: what is the
/// user's is caught.
///
/// # Safety
/// `job` points to all of a `Task<C, B, R>`, and has just been taken out of the list.
unsafe fn promote<C, B: FnOnce(Option<&mut C>) -> R + Send, R: Send>(
    job: NonNull<Job>,
    local: &Local,
    wanted: bool,
) {
    let place: NonNull<Task<C, B, R>> = job.cast();
    // SAFETY: the caller's promise; TA2.
    let task = unsafe { place.as_ref() };
    let owner = local.fiber().expect("who has jobs is a fiber");
    let root = pool_of(local).map(|pool| pool.root());
    // A cancellation may come just now, and find callbacks.
    let region = as_thread(local, owner, || Region::of_job(owner, &task.job, root));
    let made = NonNull::from(Box::leak(Box::new(Promoted {
        child: Cell::new(None),
        region,
    })));
    // SAFETY: just made, and freed by `finish` only.
    let promoted: &Promoted<R> = unsafe { made.as_ref() };
    let inherited = inheritance(local, owner);
    let noted = ptr::from_ref(local.jobs());
    let work = move || {
        // SAFETY: TA2: the task stays there until this has ended.
        let task = unsafe { place.as_ref() };
        // SAFETY: TA1.
        let work = unsafe { task.take() };
        run_job(noted, || work(None))
    };
    // SAFETY: TA2; the closure and its result are what another thread may take and give
    // back.
    let fiber = unsafe { entry::fresh(local, task.job.at, work) };
    // SAFETY: H2: not published yet.
    unsafe { inherited.give_to(fiber) };
    // SAFETY: RG1: freed by `finish`, which waits for the fiber's end.
    let region = unsafe { RegionRef::new(&promoted.region) };
    // SAFETY: H1, H2: as above.
    let header = unsafe { fiber.as_ref() };
    header.region.set(InForce::of(region));
    // The first half may wait for it.
    header.marks.set_obliged(true);
    queue_job(local, fiber, wanted);
    // SAFETY: J1: the handle's reference, of result type `R`.
    promoted.child.set(Some(unsafe { Joined::new(fiber) }));
    task.promoted.set(MaybeUninit::new(made));
}

/// Copies of what `owner`, the running fiber, has that is inherited. Does not unwind.
fn inheritance(local: &Local, owner: FiberPtr) -> Inheritance {
    // SAFETY: H1, H2: the running fiber's own header.
    if unsafe { owner.as_ref() }.locals.get().is_none() {
        return Inheritance::none();
    }
    as_thread(local, owner, || Inheritance::of(owner))
}

/// Calls `f`, in which there may be code of the user's: clones and callbacks, whose
/// panics it catches. `owner`, the running fiber, may have published where it is to be
/// woken, so nothing may wait on its behalf now: what that code waits for, it waits for
/// as a plain thread would.
fn as_thread<R>(local: &Local, owner: FiberPtr, f: impl FnOnce() -> R) -> R {
    local.set_fiber(None);
    let result = f();
    local.set_fiber(Some(owner));
    result
}
