//! Visits: running a function on top of the frames of a suspended context, which stays suspended.
//!
//! For backtraces. An unwinder starts at the frame that calls it. To see the frames of a suspended
//! context, it is called on that context's stack, by a frame that looks as if the place of the
//! suspension had called it.
//!
//! ```text
//!  | frames of the context  |
//!  +------------------------+ cfa: the frame of `landing` ends here
//!  | resume address         | read as the address that `landing` returns to; it never does
//!  | rbp, rbx, control      | kept
//!  +------------------------+ the context's sp
//!  | …                      |
//!  | the visitor's words    | as of any suspended context; popped by the switch to it
//!  | frames of the visitor  |
//! ```
//!
//! The unwind information of `landing` says that its frame ends at the address in r14, which it has
//! set, and that rbx and rbp are the caller's, unchanged. The place of the suspension expects no
//! other register.
//!
//! Not with the corosensei backend.
//!
//! # Invariants
//! * VS1. Below the context's `sp` its stack is free (SX1 of `switch`). A visit writes nothing
//!   at or above it.

use std::arch::naked_asm;
use std::mem::offset_of;
use std::ops::Range;

use super::sanitizer;
use super::switch::{Context, exit, switch};

/// The least free stack for a visit. An unwinder needs about three kilobytes of it.
const ROOM: usize = 16 << 10;

/// Between the context's words and the visitor's. Arbitrary.
const GAP: usize = 64;

/// A visitor, which runs as its `context` says and comes back to `home`.
#[repr(C)]
struct Visit<'a> {
    /// First, since that is where r13 points after the switch.
    context: Context,
    /// The end of the frame of `landing`.
    cfa: usize,
    home: Context,
    f: &'a mut dyn FnMut(),
}

/// Calls `f` on the stack of `context`, which spans `stack`, in a frame that follows those of the
/// context. Returns false if that is impossible. A panic of `f` ends the process.
///
/// # Safety
/// The context is suspended on that stack, and is not resumed meanwhile.
pub(crate) unsafe fn visit(
    context: &Context,
    stack: Range<usize>,
    f: &mut dyn FnMut(),
) -> bool {
    // SAFETY: the caller's promise.
    let Some(frame) = (unsafe { context.frame() }) else {
        return false;
    };
    if !stack.contains(&frame.sp) || frame.sp - stack.start < ROOM {
        return false;
    }
    // SAFETY: VS1: inside the stack, below the words of the context.
    let landed = unsafe { context.visiting(GAP, landing as *const () as usize) };
    let mut visit = Visit {
        context: landed,
        cfa: frame.sp,
        home: Context::empty(),
        f,
    };
    sanitizer::prepare_visit(&mut visit.context.side, &stack);
    let visit = &raw mut visit;
    // SAFETY: the visit stays in this frame until it is over.
    let home = unsafe { &raw mut (*visit).home };
    // SAFETY: both are this frame's, and the visitor is prepared. `visit` points to its context,
    // and the provenance of that pointer covers all of it.
    unsafe { switch(home, visit.cast::<Context>()) };
    sanitizer::visit_ended(stack.start..frame.sp);
    true
}

/// A sample of a running thread: registers, and the words of its stack from `sp` on.
#[derive(Debug)]
pub(crate) struct Stand<'a> {
    pub(crate) ip: usize,
    pub(crate) sp: usize,
    pub(crate) fp: usize,
    pub(crate) bx: usize,
    /// Where the stack ends.
    pub(crate) end: usize,
    pub(crate) words: &'a [usize],
}

/// The most bytes of used stack. A deeper stack is not visited, since the copy takes as much
/// address space.
const LARGEST: usize = 64 << 20;

/// As [`visit`], on a copy of the frames of a thread that keeps running. All words of the copy that
/// point into the stack are changed to point into the copy, so that an unwinder does not leave it.
/// The rest is zeros, at which an unwinder stops.
pub(crate) fn visit_copy(stand: &Stand<'_>, f: &mut dyn FnMut()) -> bool {
    /// Words for the visitor.
    const BELOW: usize = (4 * ROOM) / size_of::<usize>();
    /// Words beyond the end of the stack, for an unwinder that is misled.
    const ABOVE: usize = (4 * ROOM) / size_of::<usize>();
    let len = stand.end.saturating_sub(stand.sp);
    if stand.words.is_empty() || len > LARGEST {
        return false;
    }
    let mut copy = vec![0; BELOW + len / size_of::<usize>() + ABOVE];
    let start = copy[BELOW..].as_ptr().expose_provenance();
    let moved = |word: usize| match word.checked_sub(stand.sp) {
        Some(offset) if offset <= len => start + offset,
        _ => word,
    };
    for (to, from) in copy[BELOW..].iter_mut().zip(stand.words) {
        *to = moved(*from);
    }
    let range = copy.as_ptr().addr()..copy.as_ptr_range().end.addr();
    let (fp, bx) = (moved(stand.fp), moved(stand.bx));
    let sp = copy.as_mut_ptr().wrapping_add(BELOW);
    // An unwinder looks one byte back, where a caller's call is.
    // SAFETY: inside the copy, below what it starts with.
    let context = unsafe { Context::imitation(sp, stand.ip + 1, fp, bx) };
    // SAFETY: no other code knows of this context; its stack is the copy.
    unsafe { visit(&context, range, f) }
}

/// Calls `received(visit)`; the switch has come here with r13 = `visit`.
#[unsafe(naked)]
unsafe extern "C" fn landing() -> ! {
    naked_asm!(
        ".cfi_startproc",
        "mov r14, [r13 + {cfa}]",
        ".cfi_def_cfa r14, 0",
        ".cfi_offset rip, -8",
        "and rsp, -16",
        "mov rdi, r13",
        "call {received}",
        // Keeps the return address inside this function.
        "ud2",
        ".cfi_endproc",
        cfa = const offset_of!(Visit<'_>, cfa),
        received = sym received,
    )
}

/// Calls the function of the visit, and switches to `home`.
///
/// # Safety
/// `visit` points to a visit under way.
unsafe extern "C" fn received(visit: *mut Visit<'_>) -> ! {
    // SAFETY: the visit begins with its context, which runs.
    unsafe { sanitizer::arrive(Context::side_of(visit.cast::<Context>())) };
    // SAFETY: the caller's promise; the code that started the visit waits for the switch back.
    let f = unsafe { &mut *(*visit).f };
    // UNWIND: this function may not be unwound, so a panic ends the process.
    f();
    // SAFETY: as above.
    let home = unsafe { &raw mut (*visit).home };
    // SAFETY: `visit` points to its context, and nothing of this frame is needed any more.
    unsafe { exit(visit.cast::<Context>(), home) }
}
