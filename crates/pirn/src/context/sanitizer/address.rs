//! AddressSanitizer and LeakSanitizer: which stack runs, and which stacks hold pointers.
//!
//! Before a switch, its run-time library needs the bounds of the stack that will run; after it, the
//! notice that the switch has happened. It then returns the bounds of the stack that was left,
//! which is how the bounds of a worker's own stack become known. A taken stack is a root for the
//! search for leaks: a parked fiber may hold the only pointer to some memory.
//!
//! # Invariants
//! * A1. Between a switch and the `arrive` that follows it, `came_from` of the context that runs is
//!   the data of the one that switched to it, or null if that one was left for good. No other
//!   context runs in between, so it is still where it was.

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use crate::context::frame::Entry;
use crate::context::stacks::Stack;

/// What the caller has done comes before what the fiber with this header does once it resumes.
#[inline(always)]
pub(crate) fn hand_on(_header: *const ()) {}

/// Called by the fiber with this header when it resumes.
#[inline(always)]
pub(crate) fn take_over(_header: *const ()) {}

/// A stack returns to the pool after each fiber, so that the sanitizer's shadow follows.
pub(crate) const INHERITS: bool = false;

unsafe extern "C" {
    fn __sanitizer_start_switch_fiber(
        fake_stack: *mut *mut c_void,
        bottom: *const c_void,
        size: usize,
    );
    fn __sanitizer_finish_switch_fiber(
        fake_stack: *mut c_void,
        old_bottom: *mut *const c_void,
        old_size: *mut usize,
    );
    fn __asan_unpoison_memory_region(start: *const c_void, size: usize);
    fn __asan_handle_no_return();
    fn __lsan_register_root_region(start: *const c_void, size: usize);
    fn __lsan_unregister_root_region(start: *const c_void, size: usize);
}

/// The sanitizer's data of a context.
#[derive(Debug)]
pub(in crate::context) struct Side {
    /// While suspended: the sanitizer's own stack, for variables with an address that the code
    /// takes.
    fake_stack: *mut c_void,
    bottom: *const c_void,
    size: usize,
    came_from: *mut Side,
    /// The entry that a prepared context calls once the sanitizer knows about the switch.
    start: Option<(Entry, *mut ())>,
}

impl Side {
    pub(in crate::context) const fn new() -> Side {
        Side {
            fake_stack: ptr::null_mut(),
            bottom: ptr::null(),
            size: 0,
            came_from: ptr::null_mut(),
            start: None,
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
    let range = stack.range();
    *side = Side {
        fake_stack: ptr::null_mut(),
        bottom: ptr::with_exposed_provenance(range.start),
        size: range.len(),
        came_from: ptr::null_mut(),
        start: Some((entry, arg)),
    };
    (start, ptr::from_mut(side).cast())
}

/// The entry of every fiber: completes the switch to it, then calls the actual entry.
unsafe extern "C" fn start(side: *mut ()) -> ! {
    let side = side.cast::<Side>();
    // SAFETY: the context stays where it was prepared, and runs.
    unsafe { arrive(side) };
    // SAFETY: as above.
    let start = unsafe { (*side).start.take() };
    let Some((entry, arg)) = start else {
        std::process::abort()
    };
    // SAFETY: the promise to `Context::prepare`, kept once.
    unsafe { entry(arg) }
}

/// Called before a switch from `from` to `to`.
///
/// # Safety
/// 1. Both point into contexts that are the caller's until the switch back.
#[inline(always)]
pub(in crate::context) unsafe fn leave(from: *mut Side, to: *mut Side) {
    // SAFETY: 1.
    let to = unsafe { &mut *to };
    to.came_from = from;
    // SAFETY: 1.
    let fake_stack = unsafe { &raw mut (*from).fake_stack };
    // SAFETY: 1, and the bounds are those of the stack that runs next.
    unsafe { __sanitizer_start_switch_fiber(fake_stack, to.bottom, to.size) };
}

/// Called before the last switch away from `_from`.
///
/// # Safety
/// As [`leave`].
#[inline(always)]
pub(in crate::context) unsafe fn leave_for_good(_from: *mut Side, to: *mut Side) {
    // SAFETY: 1.
    let to = unsafe { &mut *to };
    to.came_from = ptr::null_mut();
    // SAFETY: as for `leave`; null means that this stack will not run again.
    unsafe { __sanitizer_start_switch_fiber(ptr::null_mut(), to.bottom, to.size) };
}

/// Called when a switch has come back to `here`.
///
/// # Safety
/// 1. `here` is of the context that runs.
#[inline(always)]
pub(in crate::context) unsafe fn arrive(here: *mut Side) {
    let (mut bottom, mut size) = (ptr::null(), 0);
    // SAFETY: 1.
    let here = unsafe { &mut *here };
    // SAFETY: the value that `leave` stored when this context was left, or null at its start.
    unsafe {
        __sanitizer_finish_switch_fiber(here.fake_stack, &raw mut bottom, &raw mut size);
    }
    if !here.came_from.is_null() {
        // SAFETY: A1.
        let from = unsafe { &mut *here.came_from };
        (from.bottom, from.size) = (bottom, size);
    }
}

/// Prepares `side` for a context that visits the frames on `stack`.
pub(in crate::context) fn prepare_visit(side: &mut Side, stack: &Range<usize>) {
    side.bottom = ptr::with_exposed_provenance(stack.start);
    side.size = stack.len();
}

/// Called when a visitor has left the free part `stack` of a stack. Its frames were left, not
/// unwound, and have poisoned it.
pub(in crate::context) fn visit_ended(stack: Range<usize>) {
    let start = ptr::with_exposed_provenance(stack.start);
    // SAFETY: mapped, and not in use.
    unsafe { __asan_unpoison_memory_region(start, stack.len()) };
}

/// A call on another stack, which changes neither the fiber nor the thread.
pub(in crate::context) struct Detour {
    /// The sanitizer's own stack of the frames that wait.
    fake_stack: *mut c_void,
    /// The stack that waits, once the other one is reached.
    bottom: Cell<*const c_void>,
    size: Cell<usize>,
}

impl Detour {
    /// Called before the call; dropped after it has returned or unwound.
    #[inline(always)]
    pub(in crate::context) fn begin(stack: &Stack) -> Detour {
        let mut detour = Detour {
            fake_stack: ptr::null_mut(),
            bottom: Cell::new(ptr::null()),
            size: Cell::new(0),
        };
        let (bottom, size) = bounds(stack);
        // SAFETY: the bounds of the stack that runs next.
        unsafe {
            __sanitizer_start_switch_fiber(&raw mut detour.fake_stack, bottom, size);
        }
        detour
    }

    /// Called in the first frame there; the result is dropped in that frame.
    ///
    /// # Safety
    /// 1. That frame is on the stack that this was made for.
    #[inline(always)]
    pub(in crate::context) unsafe fn arrive(&self) -> There<'_> {
        // SAFETY: 1, and null means that this stack begins anew.
        unsafe {
            __sanitizer_finish_switch_fiber(
                ptr::null_mut(),
                self.bottom.as_ptr(),
                self.size.as_ptr(),
            );
        }
        There(self)
    }
}

impl Drop for Detour {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: back on the stack that `begin` has left, with the value that it stored.
        unsafe {
            __sanitizer_finish_switch_fiber(
                self.fake_stack,
                ptr::null_mut(),
                ptr::null_mut(),
            );
        }
        if std::thread::panicking() {
            // The panic was raised on the other stack, so the sanitizer does not know that frames
            // on this one end. SAFETY: the sanitizer takes this stack for the running one.
            unsafe { __asan_handle_no_return() };
        }
    }
}

/// The part of a [`Detour`] on the other stack.
pub(in crate::context) struct There<'a>(&'a Detour);

impl Drop for There<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let (bottom, size) = (self.0.bottom.get(), self.0.size.get());
        // SAFETY: null means that this stack ends; the bounds are those of the one that waits.
        unsafe { __sanitizer_start_switch_fiber(ptr::null_mut(), bottom, size) };
    }
}

/// Called when a stack leaves the pool or a cache.
pub(in crate::context) fn taken(stack: &Stack) {
    let (start, size) = bounds(stack);
    // SAFETY: the stack is the caller's; frames that were left, not unwound, had poisoned it.
    unsafe { __asan_unpoison_memory_region(start, size) };
    // SAFETY: readable until it is returned.
    unsafe { __lsan_register_root_region(start, size) };
}

/// Called when a stack comes back.
pub(in crate::context) fn given_back(stack: &Stack) {
    let (start, size) = bounds(stack);
    // SAFETY: registered by `taken`.
    unsafe { __lsan_unregister_root_region(start, size) };
}

fn bounds(stack: &Stack) -> (*const c_void, usize) {
    let range = stack.range();
    (ptr::with_exposed_provenance(range.start), range.len())
}

/// Assembly to be run on the old stack right before the switch.
#[allow(
    unused_macros,
    reason = "the corosensei backend has no assembly of ours"
)]
macro_rules! hook {
    () => {
        ""
    };
}
#[allow(
    unused_imports,
    reason = "the corosensei backend has no assembly of ours"
)]
pub(in crate::context) use hook;
