//! The switch by the crate corosensei: targets other than x86-64, and the feature
//! `corosensei`.
//!
//! corosensei is asymmetric: a coroutine suspends to the context that resumed it. So here a
//! worker's context switches to a fiber's, and a fiber's only back to the worker's context that
//! resumed it; no fiber switches to another. Control words of the floating-point unit are not part
//! of a context, and the position of a suspended one is not known.
//!
//! # Invariants
//! * CO1. `fiber` is null for a worker's own side; else it points to the record that
//!   `prepare` put at the top of the fiber's stack, valid until the fiber is left.

use std::mem::{ManuallyDrop, offset_of};
use std::num::NonZeroUsize;
use std::ptr;

use corosensei::stack::StackPointer;
use corosensei::{Coroutine, Yielder};

use super::frame::{Entry, Frame};
use super::sanitizer::{self, Side};
use super::stacks::Stack;

/// A thread of execution that is not running: a fiber's or a worker's own.
#[derive(Debug)]
pub(crate) struct Context {
    fiber: *mut Fiber,
    #[allow(dead_code, reason = "read by the sanitizers, where there is one")]
    side: Side,
}

// SAFETY: CO1: any thread may resume a suspended context; the code that lets it migrate answers for
// the contents of its frames.
unsafe impl Send for Context {}

/// The record at the top of a fiber's stack.
#[repr(align(16))]
struct Fiber {
    coroutine: ManuallyDrop<Coroutine<(), (), (), Piece>>,
    /// Set by the fiber when it starts.
    yielder: *const Yielder<(), ()>,
    /// Set by the fiber right before its last suspension.
    left: bool,
}

/// The part of a stack below the record.
struct Piece {
    base: StackPointer,
    limit: StackPointer,
}

// SAFETY: the piece lies on a stack of this module, with the guard below `limit`, and is far larger
// than the least size.
unsafe impl corosensei::stack::Stack for Piece {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// A fiber switches back to the worker that resumed it, and nowhere else.
pub(crate) const DIRECT: bool = false;

impl Context {
    /// Returns an empty context: a worker's own side, which the first switch away fills, or a fiber
    /// that has yet to be prepared.
    pub(crate) const fn empty() -> Context {
        Context {
            fiber: ptr::null_mut(),
            side: Side::new(),
        }
    }

    /// Returns the sanitizer's data of a context.
    #[inline(always)]
    fn side_of(context: *mut Context) -> *mut Side {
        context.wrapping_byte_add(offset_of!(Context, side)).cast()
    }

    /// Makes the first switch to this context call `entry(arg)` on `stack`.
    ///
    /// # Safety
    /// 1. `stack` stays taken, and is used by nothing else, until the switch away by `exit`
    ///    has ended.
    /// 2. The context stays where it is until then.
    /// 3. `entry` may be called with `arg`, once, on any thread that switches here first.
    pub(crate) unsafe fn prepare(&mut self, stack: &Stack, entry: Entry, arg: *mut ()) {
        let (entry, arg) = sanitizer::prepare(&mut self.side, stack, entry, arg);
        // SAFETY: 1: the top of an unused stack; a record is far smaller.
        let fiber = unsafe { stack.base().cast::<Fiber>().sub(1) };
        // The lowest page is not used: if the stack starts at 0 there is none.
        let limit = NonZeroUsize::new(stack.range().start).unwrap_or(NonZeroUsize::MIN);
        let piece = Piece {
            base: fiber.addr(),
            limit,
        };
        let body = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: CO1.
            unsafe { (*fiber.as_ptr()).yielder = yielder };
            // SAFETY: 3; corosensei calls this once.
            unsafe { entry(arg) }
        };
        let record = Fiber {
            coroutine: ManuallyDrop::new(Coroutine::with_stack(piece, body)),
            yielder: ptr::null(),
            left: false,
        };
        // SAFETY: as above.
        unsafe { fiber.write(record) };
        self.fiber = fiber.as_ptr();
    }

    /// Returns where the context resumes: not known with this backend.
    ///
    /// # Safety
    /// None here; the other implementation reads the stack.
    pub(crate) unsafe fn frame(&self) -> Option<Frame> {
        None
    }
}

/// Suspends the running context into `save` and resumes `to`. Returns when some thread switches to
/// `save`.
///
/// # Safety
/// 1. Both point to contexts that stay where they are while they are suspended. Meanwhile no
///    other code writes them, and only a party that keeps them from being resumed reads them.
/// 2. `to` is prepared or suspended, and only the caller may resume it; `save` is not `to`.
/// 3. What the caller keeps over the call may be used on the thread that switches back.
/// 4. One of them is a worker's side; if it is `to`, it was the last to switch to `save`.
#[inline]
pub(crate) unsafe fn switch(save: *mut Context, to: *mut Context) {
    // SAFETY: 1.
    unsafe { sanitizer::leave(Context::side_of(save), Context::side_of(to)) };
    // SAFETY: 1.
    let fiber = unsafe { (*to).fiber };
    if fiber.is_null() {
        // SAFETY: 4: `save` is a fiber that runs.
        let running = unsafe { (*save).fiber };
        // SAFETY: as above.
        unsafe { suspend(running) };
    } else {
        // SAFETY: CO1, 2.
        let coroutine = unsafe { &mut (*fiber).coroutine };
        coroutine.resume(());
        // SAFETY: CO1; the fiber is suspended again.
        if unsafe { (*fiber).left } {
            // SAFETY: `exit` promises that nothing on the stack is to be dropped. `to` is not read
            // again: the code that runs on the stack may have changed meanwhile.
            unsafe { coroutine.force_reset() };
        }
    }
    // SAFETY: 1.
    unsafe { sanitizer::arrive(Context::side_of(save)) };
}

/// Leaves the running context for good and resumes `to`; `save` may be prepared again. Nothing on
/// this stack is dropped.
///
/// # Safety
/// 1. As for [`switch`].
/// 2. The stack is given back only by code that runs on `to`.
pub(crate) unsafe fn exit(save: *mut Context, to: *mut Context) -> ! {
    // SAFETY: 1.
    unsafe { sanitizer::leave_for_good(Context::side_of(save), Context::side_of(to)) };
    // SAFETY: 1: a left context is empty.
    let fiber = unsafe { std::mem::replace(&mut (*save).fiber, ptr::null_mut()) };
    // SAFETY: CO1.
    unsafe { (*fiber).left = true };
    // SAFETY: 1: `save` is a fiber that runs.
    unsafe { suspend(fiber) };
    unreachable!("a context that was left has been resumed")
}

/// # Safety
/// 1. `fiber` is the record of the fiber that calls.
unsafe fn suspend(fiber: *mut Fiber) {
    // SAFETY: 1, CO1.
    let yielder = unsafe { (*fiber).yielder };
    // SAFETY: 1: the fiber has started, so the yielder is set and lives on its stack.
    unsafe { &*yielder }.suspend(());
}
