//! ThreadSanitizer: it keeps a stack of calls for each fiber, and must know which fiber runs.
//!
//! The switch's own assembly notifies it, right before the stack pointer changes. Between the two
//! no instrumented function may be entered or left, or the sanitizer's stack of calls no longer
//! matches the real one. The corosensei backend has no such place, so it cannot be used with this
//! sanitizer.
//!
//! # Invariants
//! * TS1. `fiber` is the sanitizer's handle of the context: of a prepared one from `prepare`
//!   to its last switch, of a thread's own side while that is suspended.
//! * TS2. A handle is destroyed by the context that was switched to, when it arrives, never
//!   while it runs.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::context::frame::Entry;
use crate::context::stacks::Stack;

/// The flags of each switch: 1 if it orders nothing. The hook reads it by this name.
#[unsafe(no_mangle)]
static pirn_tsan_switch_flags: AtomicU32 = AtomicU32::new(0);

/// From now on a switch does not order what two fibers of one thread do. So a race between fibers
/// of different threads is found, also if another fiber has met the second thread in between. The
/// scheduler's own data, which all fibers of a thread use, then appears racy.
pub(crate) fn order_no_switches() {
    // ORDERING: none; a switch that reads the old value orders something.
    pirn_tsan_switch_flags.store(1, Ordering::Relaxed);
}

/// What the caller has done comes before what the fiber with this header does once it resumes.
/// Without an effect while switches order something: then the scheduler's own orders are checked.
pub(crate) fn hand_on(header: *const ()) {
    if switches_order_nothing() {
        // SAFETY: the address is a name only.
        unsafe { __tsan_release(header.cast_mut().cast()) };
    }
}

/// Called by the fiber with this header when it starts or resumes.
pub(crate) fn take_over(header: *const ()) {
    if switches_order_nothing() {
        // SAFETY: the address is a name only.
        unsafe { __tsan_acquire(header.cast_mut().cast()) };
    }
}

fn switches_order_nothing() -> bool {
    // ORDERING: none, as above.
    pirn_tsan_switch_flags.load(Ordering::Relaxed) != 0
}

/// Each fiber has a shadow state of its own.
pub(crate) const INHERITS: bool = false;

unsafe extern "C" {
    fn __tsan_get_current_fiber() -> *mut c_void;
    fn __tsan_create_fiber(flags: u32) -> *mut c_void;
    fn __tsan_destroy_fiber(fiber: *mut c_void);
    fn __tsan_acquire(name: *mut c_void);
    fn __tsan_release(name: *mut c_void);
}

/// The sanitizer's data of a context.
#[repr(C)]
#[derive(Debug)]
pub(in crate::context) struct Side {
    /// The first field: the hook reads it at offset 8 of the context.
    fiber: *mut c_void,
    /// A fiber that has switched here for the last time.
    left: *mut c_void,
    /// The entry that a prepared context calls once it has arrived.
    start: Option<(Entry, *mut ())>,
    /// The lowest address of a prepared context's stack: the next fiber on it comes after this one.
    stack: *const (),
}

impl Side {
    pub(in crate::context) const fn new() -> Side {
        Side {
            fiber: ptr::null_mut(),
            left: ptr::null_mut(),
            start: None,
            stack: ptr::null(),
        }
    }
}

/// Prepares `side` for a context that will start `entry` on `stack`; returns the function to
/// start in its place.
pub(in crate::context) fn prepare(
    side: &mut Side,
    stack: &Stack,
    entry: Entry,
    arg: *mut (),
) -> (Entry, *mut ()) {
    // SAFETY: the call only creates a handle.
    let fiber = unsafe { __tsan_create_fiber(0) };
    *side = Side {
        fiber,
        left: ptr::null_mut(),
        start: Some((entry, arg)),
        stack: ptr::without_provenance(stack.range().start),
    };
    (start, ptr::from_mut(side).cast())
}

/// The entry of every fiber: arrives, then calls the actual entry.
unsafe extern "C" fn start(side: *mut ()) -> ! {
    let side = side.cast::<Side>();
    // SAFETY: the context stays where it was prepared, and runs.
    unsafe { arrive(side) };
    // SAFETY: as above.
    let start = unsafe { (*side).start.take() };
    let Some((entry, arg)) = start else {
        std::process::abort()
    };
    take_over(arg);
    // SAFETY: as above.
    take_over(unsafe { (*side).stack });
    // SAFETY: the promise to `Context::prepare`, kept once.
    unsafe { entry(arg) }
}

/// Called before a switch from `from` to `_to`.
///
/// # Safety
/// 1. `from` is of the context that runs.
#[inline(always)]
pub(in crate::context) unsafe fn leave(from: *mut Side, _to: *mut Side) {
    // Read each time: a side that was never prepared may serve several threads in turn. SAFETY: the
    // call only reads.
    let fiber = unsafe { __tsan_get_current_fiber() };
    // SAFETY: 1.
    unsafe { (*from).fiber = fiber };
}

/// Called before the last switch away from `from`.
///
/// # Safety
/// 1. Both point into contexts that are the caller's until the switch.
#[inline(always)]
pub(in crate::context) unsafe fn leave_for_good(from: *mut Side, to: *mut Side) {
    // SAFETY: 1.
    let from = unsafe { &mut *from };
    // SAFETY: 1.
    let to = unsafe { &mut *to };
    hand_on(from.stack);
    to.left = from.fiber;
    from.fiber = ptr::null_mut();
}

/// Called when a switch has come back to `here`.
///
/// # Safety
/// 1. `here` is of the context that runs.
#[inline(always)]
pub(in crate::context) unsafe fn arrive(here: *mut Side) {
    // SAFETY: 1.
    let here = unsafe { &mut *here };
    if !here.left.is_null() {
        // SAFETY: TS1, TS2.
        unsafe { __tsan_destroy_fiber(here.left) };
        here.left = ptr::null_mut();
    }
}

/// Prepares `side` for a context that visits the frames on `_stack`: its calls do not count
/// as calls of the visited fiber.
pub(in crate::context) fn prepare_visit(side: &mut Side, _stack: &Range<usize>) {
    // SAFETY: the call only creates a handle, which the visited side destroys (TS2).
    side.fiber = unsafe { __tsan_create_fiber(0) };
}

/// Called when a visitor has left the free part `_stack` of a stack.
#[inline(always)]
pub(in crate::context) fn visit_ended(_stack: Range<usize>) {}

/// A call on another stack. To this sanitizer it is a call like any other.
pub(in crate::context) struct Detour;

impl Detour {
    /// Called before the call; dropped after it.
    #[inline(always)]
    pub(in crate::context) fn begin(_stack: &Stack) -> Detour {
        Detour
    }

    /// Called in the first frame there; the result is dropped in that frame.
    ///
    /// # Safety
    /// None here; another implementation completes the change of stacks.
    #[inline(always)]
    pub(in crate::context) unsafe fn arrive(&self) -> There {
        There
    }
}

/// The part of a [`Detour`] on the other stack.
pub(in crate::context) struct There;

/// Called when a stack leaves the pool or a cache.
#[inline(always)]
pub(in crate::context) fn taken(_stack: &Stack) {}

/// Called when a stack comes back.
#[inline(always)]
pub(in crate::context) fn given_back(_stack: &Stack) {}

/// Assembly to be run on the old stack right before the switch to the context in r13.
#[allow(
    unused_macros,
    reason = "the corosensei backend has no assembly of ours"
)]
macro_rules! hook {
    () => {
        "mov rdi, [r13 + 8]\nmov rsi, [rip + pirn_tsan_switch_flags@GOTPCREL]\nmov esi, [rsi]\n\
         call __tsan_switch_to_fiber@PLT"
    };
}
#[allow(
    unused_imports,
    reason = "the corosensei backend has no assembly of ours"
)]
pub(in crate::context) use hook;
