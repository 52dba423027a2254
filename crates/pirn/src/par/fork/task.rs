//! A job in the frame of its join: the closure, and its result.
//!
//! Owns: the closure until it is taken, how it becomes a fiber, and the wait for that
//! fiber. Does not own: when that happens (`sched::worker::heartbeat`, `fiber::jobs`),
//! nor what the fiber inherits (`fiber::cancel`, `fiber::local`).
//!
//! # Invariants
//! * TA1. The closure is there until it is taken, once: by the join, if the job is
//!   pending when the first half has ended; else by the fiber that it was promoted to. If
//!   that fiber has ended without having run it, the join takes it.
//! * TA2. A promoted task stays in place until `finish` has seen that fiber end.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};
use std::thread;

use crate::base::mutant::mutant;
use crate::fiber::FiberPtr;
use crate::fiber::cancel_scope::{CancelScope, RegionRef};
use crate::fiber::current::{self, Local, as_thread};
use crate::fiber::jobs::Job;
use crate::fiber::local::Inheritance;
use crate::join::{Fiber, Fresh, JoinError, Joined, wait_or};
use crate::sched::worker::enqueue::pool_of;
use crate::sched::worker::heartbeat::{expect_end, queue_job, run_job, take_job_back};
use crate::wait::polling;
use crate::wait::{Reason, Spec};

/// The second half of a join.
#[repr(C)]
pub(super) struct Task<C, B, R> {
    job: Job,
    work: UnsafeCell<ManuallyDrop<B>>,
    /// Set once the job has been promoted.
    promoted: Cell<MaybeUninit<NonNull<Promoted<R>>>>,
    /// The result type of `work`, and the context it borrows where it runs at its join.
    result: PhantomData<R>,
    context: PhantomData<fn(C)>,
}

/// A promoted job.
struct Promoted<R> {
    child: Cell<Option<Joined<R>>>,
    /// The region that the fiber inherits, and has left when its end is reported (RG1).
    region: CancelScope,
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

    /// Returns the list entry: a pointer to all of the task.
    #[inline(always)]
    pub(super) fn listed(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    /// # Safety
    /// TA1.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> B {
        // SAFETY: by contract.
        let work = unsafe { &mut *self.work.get() };
        // SAFETY: as above.
        unsafe { ManuallyDrop::take(work) }
    }

    /// Waits for the fiber that the job was promoted to, and takes its result.
    ///
    /// # Safety
    /// TA2: once, by the join, if the job is no longer pending.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn finish(&self) -> thread::Result<R> {
        // SAFETY: by contract: `promote` has stored it.
        let place = unsafe { self.promoted.get().assume_init() };
        // SAFETY: a box that is not freed before its end, below.
        let child = unsafe { place.as_ref() }.child.take();
        let child = child.expect("a promoted job is finished once");
        wait_for(child.fiber(), self.job.at);
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
        // SAFETY: made of a box by `promote`; the fiber that accessed it has ended (TA2).
        drop(unsafe { Box::from_raw(place.as_ptr()) });
        result
    }
}

/// Waits for the end of a promoted job's fiber. Compiled once for all types.
fn wait_for(child: &Fiber, at: &'static Location<'static>) {
    if !child.is_finished() {
        expect_end(current::local());
    }
    let spec = Spec::of(Reason::Join).at(at);
    let wait = || {
        // TA2: the wake alone does not prove the end, and the wait must not unwind.
        while !child.is_finished() {
            let _ = wait_or(child, &spec, &|| {
                take_job_back(current::local(), child.ptr());
            });
        }
    };
    match polling::forbids_waiting(current::local()) {
        false => wait(),
        true => polling::apart(wait),
    }
}

/// Promotes a job of the running fiber: makes a fiber of it.
///
/// UNWIND: it does not unwind, or the owner of the closure would be unknown. Panics of
/// user code are caught.
///
/// # Safety
/// `job` points to all of a `Task<C, B, R>`, and has just been taken out of the list.
unsafe fn promote<C, B: FnOnce(Option<&mut C>) -> R + Send, R: Send>(
    job: NonNull<Job>,
    wanted: bool,
) {
    let local = current::local();
    let place: NonNull<Task<C, B, R>> = job.cast();
    // SAFETY: by contract; TA2.
    let task = unsafe { place.as_ref() };
    let owner = local.fiber().expect("only a fiber has jobs");
    let region = region(local, owner, &task.job);
    let made = NonNull::from(Box::leak(Box::new(Promoted {
        child: Cell::new(None),
        region,
    })));
    // SAFETY: just made, and freed by `finish` only.
    let promoted: &Promoted<R> = unsafe { made.as_ref() };
    let inherited = inheritance(local, owner);
    let noted = ptr::from_ref(local.jobs());
    let work = move || {
        // SAFETY: TA2: the task stays in place until this has ended.
        let task = unsafe { place.as_ref() };
        // SAFETY: TA1.
        let work = unsafe { task.take() };
        run_job(noted, || work(None))
    };
    // SAFETY: TA2; the closure and its result may be sent between threads.
    let fresh = unsafe { Fresh::borrowing(local, task.job.at, work) };
    fresh.inherit(inherited);
    // SAFETY: RG1: freed by `finish`, which waits for the fiber's end.
    let region = unsafe { RegionRef::new(&promoted.region) };
    // H2: not published yet.
    let header = fresh.ptr().header();
    header.inherit_scope(region);
    // The first half may wait for it.
    header.flags.set_must_run(!mutant!("half_may_be_refused"));
    let (fiber, child) = fresh.into_parts();
    queue_job(local, fiber, wanted);
    promoted.child.set(Some(child));
    task.promoted.set(MaybeUninit::new(made));
}

/// Returns the region of the fiber that `job` of `owner`, the running fiber, becomes.
fn region(local: &Local, owner: FiberPtr, job: &Job) -> CancelScope {
    let root = pool_of(local).map(|pool| pool.root());
    // A cancellation may come at this point and run callbacks.
    as_thread(local, || CancelScope::of_job(owner, job, root))
}

/// Copies the inherited locals of `owner`, the running fiber. Does not unwind.
fn inheritance(local: &Local, owner: FiberPtr) -> Inheritance {
    // H2: the running fiber's own header.
    if !owner.header().has_locals() {
        return Inheritance::none();
    }
    as_thread(local, || Inheritance::of(owner))
}
