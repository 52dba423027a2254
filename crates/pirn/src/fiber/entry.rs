//! Start and end of a fiber: the closure is stored in the header unboxed, and so is the outcome.
//!
//! Owns: the functions in the table of operations on a payload (`vtable`), the function at the root
//! of each fiber's stack, and the order of steps at the end. All values of the user (closure,
//! result, fiber-locals, panic payload) are run or dropped on the fiber's own stack and before its
//! joiners are woken.
//!
//! The end, in order:
//! 1. The closure has returned or panicked, and its outcome is in the payload. From step 3 on the
//!    outcome may be a joiner's, so what depends on it is counted or reported before.
//! 2. Fiber-locals are dropped, and the fiber leaves the region that it inherits from its parent
//!    (`cancel`).
//! 3. Under the join lock, `done` is set and the first joiner is claimed. If the handle is gone,
//!    the outcome is dropped before that, outside the lock.
//! 4. The first joiner is enqueued. Then the others are claimed and enqueued, one at a time.
//! 5. The end hook notifies the scope.
//! 6. The fiber leaves its stack, or hands it to a fresh fiber.
//! 7. The next code on this thread cleans up: the state word becomes Done, the stack goes back to
//!    the cache, the end is counted, and the runtime's reference is released.

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};

use super::cancel::scope::{CancelScope, RegionRef};
use super::cancel::token_registration;
use super::current::{self, Local};
use super::end_hook::{EndHook, Ending};
use super::fiber_ptr::FiberPtr;
use super::header::{Header, Join, Outcome};
use super::local::destroy::{destroy, destroy_all};
use super::panic_payload::{Panic, Unwound, Witness};
use super::slab;
use super::vtable::Vtable;
use crate::base::drop_guard::end_caught;
use crate::base::mutant::mutant;
use crate::context;
use crate::shim::LockGuard;

struct Types<F, T>(PhantomData<(F, T)>);

impl<F: FnOnce() -> T, T> Types<F, T> {
    const TABLE: Vtable = Vtable {
        run: run::<F, T>,
        drop_closure: drop_lying::<F>,
        drop_value: match needs_drop::<T>() || !lies_unboxed::<T>() {
            true => Some(drop_lying::<T>),
            false => None,
        },
    };

    /// The least class with a payload for both the closure and the result. What fits in no class is
    /// boxed, and then the least class is enough for it.
    const CLASS: u8 = {
        let closure = class_for::<F>();
        let result = class_for::<T>();
        if closure > result { closure } else { result }
    };
}

/// Returns the least class with a payload for a `V`; the least of all if none fits.
pub(crate) const fn class_for<V>() -> u8 {
    let mut class = 0;
    while (class as usize) < slab::CLASSES {
        if fits::<V>(class) {
            return class;
        }
        class += 1;
    }
    0
}

/// Returns whether a `V` fits the payload of this class.
const fn fits<V>(class: u8) -> bool {
    size_of::<V>() <= Header::payload_size(class)
        && align_of::<V>() <= align_of::<Header>()
}

/// Returns whether `V` lies in the payload itself, not in a box: it fits some class, and that or a
/// larger one has been chosen for it.
const fn lies_unboxed<V>() -> bool {
    fits::<V>(slab::CLASSES as u8 - 1)
}

const _: () = assert!(fits::<Unwound>(0), "a panic lies in a payload of any class");

/// Creates a fresh fiber from `f`, with one reference for the runtime and one for a handle.
///
/// # Safety
/// The fiber is run (or dropped) before any borrow of `f` or its result ends, and on a thread that
/// may take `f`.
#[inline]
pub(crate) unsafe fn fresh<F: FnOnce() -> T, T>(
    local: &Local,
    location: &'static Location<'static>,
    f: F,
) -> FiberPtr {
    let fiber = slab::alloc(local, Types::<F, T>::CLASS, location, 2);
    // H2: just allocated.
    fiber.header().vtable.set(&Types::<F, T>::TABLE);
    // SAFETY: H5: a fresh header's payload is free.
    unsafe { put(fiber, f) };
    context::hand_on(ptr::from_ref(fiber.header()).cast());
    fiber
}

/// # Safety
/// The payload is free and the caller's (H5), and its class was chosen for a `V` too.
#[inline(always)]
unsafe fn put<V>(fiber: FiberPtr, value: V) {
    let place = Header::payload(fiber);
    if const { lies_unboxed::<V>() } {
        // SAFETY: fits the payload, which is the caller's.
        unsafe { place.cast::<V>().write(value) };
    } else {
        // SAFETY: a thin pointer fits every payload.
        unsafe { place.cast::<Box<V>>().write(Box::new(value)) };
    }
}

/// # Safety
/// The payload holds a `V` put there by [`put`], and is the caller's (H5).
#[inline(always)]
pub(crate) unsafe fn take<V>(fiber: FiberPtr) -> V {
    let place = Header::payload(fiber);
    if const { lies_unboxed::<V>() } {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<V>().read() }
    } else {
        // SAFETY: the caller's promise.
        *unsafe { place.cast::<Box<V>>().read() }
    }
}

/// Takes the panic that the payload holds, without notifying its witness.
///
/// # Safety
/// As [`take`].
pub(crate) unsafe fn take_panic(fiber: FiberPtr) -> Panic {
    // SAFETY: the caller's promise; panics are stored in this way.
    unsafe { take::<Unwound>(fiber) }.into_panic()
}

/// The `run` of the table for these types.
///
/// # Safety
/// Once for each fiber, by the fiber itself; the payload holds an `F` (H5).
unsafe fn run<F: FnOnce() -> T, T>(fiber: FiberPtr) {
    // SAFETY: H5: the closure is there until the fiber takes it, here.
    let f = unsafe { take::<F>(fiber) };
    let value = f();
    // SAFETY: H5: the closure has been taken out.
    unsafe { put::<T>(fiber, value) };
}

/// Drops the `V` that the payload holds.
///
/// # Safety
/// As [`take`].
unsafe fn drop_lying<V>(fiber: FiberPtr) {
    if const { lies_unboxed::<V>() } {
        // SAFETY: the caller's promise.
        drop(unsafe { take::<V>(fiber) });
    } else {
        // Where it lies: it may be larger than the caller's stack.
        // SAFETY: the caller's promise.
        drop(unsafe { Header::payload(fiber).cast::<Box<V>>().read() });
    }
}

/// Runs the closure (or drops it if the fiber was cancelled before it ran, and has no flag
/// `must_run`), and stores the outcome.
///
/// # Safety
/// Once for each fiber, by the fiber itself; the payload holds its closure (H5).
#[inline(always)]
unsafe fn run_caught(fiber: FiberPtr) {
    let header = fiber.header();
    let table = header.vtable.get();
    let is_late = header.state.is_cancelled() && !header.flags.must_run();
    let (call, outcome) = match is_late {
        false => (table.run, Outcome::Value),
        true => (table.drop_closure, Outcome::NotRun),
    };
    // UNWIND: state that a panic leaves broken is the closure's own or was shared with it
    // knowingly; the joiner gets the panic, as with `std::thread`.
    // SAFETY: the caller's promise.
    let result = catch_unwind(AssertUnwindSafe(|| unsafe { call(fiber) }));
    let outcome = match result {
        Ok(()) => outcome,
        Err(panic) => {
            // SAFETY: H5: the closure has been taken out, and has left no result.
            unsafe { put(fiber, Unwound::new(panic, witness(header))) };
            current::unwound();
            Outcome::Panicked
        }
    };
    header.set_outcome(outcome);
    if outcome == Outcome::NotRun {
        header.life.unrun();
    }
}

/// Returns the function that is notified if the panic of the running fiber is not taken.
fn witness(header: &Header) -> Option<Witness> {
    // A fiber that no runtime has taken has no home.
    match header.is_fresh() {
        true => None,
        false => header.home().witness(),
    }
}

/// Drops the outcome in the payload; a panic is reported to its witness. UNWIND: catches a panic in
/// the value's destructor.
///
/// # Safety
/// The caller owns the outcome (H5).
pub(crate) unsafe fn drop_outcome(fiber: FiberPtr) {
    let header = fiber.header();
    let outcome = header.take_outcome();
    end_caught(|| match outcome {
        Outcome::Value => {
            if let Some(drop_value) = header.vtable.get().drop_value {
                // SAFETY: H5, and the outcome says what is there.
                unsafe { drop_value(fiber) };
            }
        }
        Outcome::Panicked => {
            // SAFETY: as above.
            let unwound = unsafe { take::<Unwound>(fiber) };
            unwound.report(header.id(), header.name(), header.location());
        }
        Outcome::Pending | Outcome::NotRun | Outcome::Taken => {}
    });
}

/// The root of every fiber's stack.
///
/// # Safety
/// `arg` is a fresh fiber's header; the caller is a worker that has just switched here.
pub(crate) unsafe extern "C" fn fiber_main(arg: *mut ()) -> ! {
    // SAFETY: the worker passes the pointer to a header.
    let header = unsafe { NonNull::new_unchecked(arg.cast()) };
    // SAFETY: H1: it comes from the slab.
    let mut fiber = unsafe { FiberPtr::new(header) };
    fiber.header().home().on_arrival(current::local());
    loop {
        // SAFETY: called once, on the fiber.
        let joiner = unsafe { live(fiber) };
        let home = fiber.header().home();
        // SAFETY: this is the root of its stack, which is no longer needed.
        fiber = unsafe { home.ended(current::local(), fiber, joiner) };
    }
}

/// Runs a fiber on its stack: its closure and all that follows, up to step 5. Returns the address of
/// the first joiner, if it is a fiber and was woken; else 0.
///
/// # Safety
/// Called once for each fiber, by the fiber itself.
#[inline(always)]
pub(crate) unsafe fn live(fiber: FiberPtr) -> usize {
    // H2: the fiber's own header.
    let header = fiber.header();
    match header.scope().region() {
        // SAFETY: the caller's promise.
        None => unsafe { run_out(fiber) },
        // SAFETY: the caller's promise.
        Some(outer) => unsafe { run_out_within(fiber, outer) },
    }
    #[cfg(feature = "sim")]
    header.home().before_end(fiber);
    // A waiter that is woken may end what the fiber has inherited, so the fiber has left that by
    // now.
    let (ending, joiner) = publish(fiber);
    notify_scope(fiber, ending);
    // Values that the user's code in the hook has made, and lasting ones.
    destroy_all(header);
    joiner
}

/// As [`run_out`], for a fiber that inherits the region of its parent's code.
///
/// # Safety
/// As for [`live`].
#[inline(never)]
unsafe fn run_out_within(fiber: FiberPtr, outer: RegionRef) {
    token_registration::refuse_if_late(fiber, outer);
    let bottom = CancelScope::bottom(fiber, outer);
    // SAFETY: left below; `run_out` does not unwind.
    unsafe { token_registration::enter(fiber, &bottom) };
    // SAFETY: the caller's promise.
    unsafe { run_out(fiber) };
    token_registration::leave_for_good(fiber, &bottom);
}

/// Steps 1 and 2 of the end.
///
/// # Safety
/// As for [`live`].
#[inline(always)]
unsafe fn run_out(fiber: FiberPtr) {
    let header = fiber.header();
    // SAFETY: the caller's promise: the closure is still in the payload.
    unsafe { run_caught(fiber) };
    destroy(header);
}

/// Steps 3 and 4 of the end. Returns the address of the first joiner too, as [`live`] does.
fn publish(fiber: FiberPtr) -> (Ending, usize) {
    let header = fiber.header();
    let panicked = header.outcome() == Outcome::Panicked;
    let mut join = header.join.lock();
    let detached = join.detached && !mutant!("detached_unseen");
    if detached && owes_drop(header) {
        drop(join);
        // SAFETY: H5: detached, so the outcome is the fiber's own to drop.
        unsafe { drop_outcome(fiber) };
        join = header.join.lock();
    }
    join.done = !mutant!("done_after_the_claims");
    // PERF: usually a child of a scope has no joiner; 27 instructions less (bench guard).
    let joiner = if join.whole || !join.waiters.is_empty() {
        publish_to_joiners(header, join)
    } else {
        drop(join);
        0
    };
    if mutant!("done_after_the_claims") {
        header.join.lock().done = true;
    }
    (Ending { panicked, detached }, joiner)
}

/// Continues [`publish`] if joiners wait, or the fiber has a token of its own for its jobs.
#[inline(never)]
fn publish_to_joiners(header: &Header, mut join: LockGuard<'_, Join>) -> usize {
    let whole = if join.whole {
        join.whole = false;
        join.own.take()
    } else {
        None
    };
    let first = join.waiters.claim_first(|_| {});
    // LIVENESS: `done` is set, so no joiner joins the queue any more. Those in it are woken below,
    // one by one, each outside the lock. If none was claimed, the queue is empty.
    let more = !join.waiters.is_empty();
    drop(join);
    drop(whole);
    let Some(wake) = first else { return 0 };
    let joiner = wake.address();
    wake.enqueue();
    if more {
        wake_more_joiners(header);
    }
    joiner
}

/// Wakes all joiners but the first.
#[cold]
fn wake_more_joiners(header: &Header) {
    loop {
        let next = header.join.lock().waiters.claim_first(|_| {});
        match next {
            Some(joiner) => joiner.enqueue(),
            None => return,
        }
    }
}

/// Step 5 of the end.
#[inline(always)]
fn notify_scope(fiber: FiberPtr, ending: Ending) {
    let header = fiber.header();
    if let Some(EndHook { table, data }) = header.on_end() {
        // SAFETY: the scope that set the hook waits until this call has counted the fiber. For a
        // group `data` is a counted reference, which this call consumes.
        unsafe { (table.ended)(data, fiber, ending) };
    }
}

/// Returns whether the outcome of a detached fiber has to be dropped.
fn owes_drop(header: &Header) -> bool {
    match header.outcome() {
        Outcome::Value => header.vtable.get().drop_value.is_some(),
        outcome => outcome == Outcome::Panicked && !header.flags.keeps_panic(),
    }
}

/// Ends a fresh fiber that no runtime takes: its closure is dropped here, unrun.
#[cold]
pub(crate) fn refuse(fiber: FiberPtr) {
    let header = fiber.header();
    // Cancelled before it ran: its closure is dropped. No fiber waits, so there is nothing to
    // enqueue.
    header.state.cancel();
    header.flags.set_must_run(false);
    // SAFETY: the fiber is in no queue, so the caller owns it.
    unsafe { run_caught(fiber) };
    // The values that it has inherited.
    destroy(header);
    let (ending, _) = publish(fiber);
    notify_scope(fiber, ending);
    // As in `live`: a lasting one may let others end.
    destroy_all(header);
    header.state.finish();
    header.life.end();
    // SAFETY: the runtime's reference, which no runtime has taken.
    unsafe { Header::release(fiber) };
}
