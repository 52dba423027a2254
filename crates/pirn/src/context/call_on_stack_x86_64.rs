//! Running a function on another stack, beside the frames of the caller.
//!
//! This is a call, not a switch: the caller continues when the function has returned or unwound. So
//! only the caller's stack pointer is saved.
//!
//! ```text
//!  stack of the caller             the other stack
//!  | frames of the caller   |     | record                 |
//!  | return address         |     +------------------------+ base
//!  | rbp of the caller      |     | return address         |  into `call_on`
//!  +------------------------+ rbp | frames of the function |
//!  | where `call_on` resumes|
//! ```
//!
//! Unwinders (panics, backtraces) see `call_on` as two frames. The inner one is marked as a signal
//! frame: debuggers report a damaged stack if a caller lies below its callee, except under a signal
//! frame. But in the caller of a signal frame, unwinders look up the return address itself, not the
//! call before it. They would miss the landing pad of the call, and abort. Therefore the inner
//! frame returns to the outer one: an ordinary frame without landing pads, which ends 16 bytes
//! above rbp, wherever that is.
//!
//! The corosensei backend has no such call.

use std::arch::naked_asm;

use super::sanitizer::Detour;
use super::stacks::Stack;

/// True: functions can run on another stack.
pub(crate) const CALLS_ON_STACK: bool = true;

/// Calls `f` on `stack`, and returns its result; if `f` unwinds, so does this.
#[inline]
pub(crate) fn call_on_stack<T, F: FnOnce() -> T>(stack: &mut Stack, f: F) -> T {
    let result = {
        let detour = Detour::begin(stack);
        let mut call = Call {
            f: Some(f),
            result: None,
            detour: &detour,
        };
        // SAFETY: SK1: the stack is mapped, and nothing runs on it: its one handle is borrowed
        // until the call has returned. `run` gets the call that it is made for.
        unsafe {
            call_on((&raw mut call).cast(), run::<T, F>, stack.base().as_ptr());
        }
        call.result
    };
    result.expect("a call that returns has a result")
}

/// The function that is passed to the other stack, and the result that is passed back.
struct Call<'a, T, F> {
    f: Option<F>,
    result: Option<T>,
    detour: &'a Detour,
}

/// # Safety
/// `call` points to a `Call<'_, T, F>` that nothing else uses meanwhile.
unsafe extern "C-unwind" fn run<T, F: FnOnce() -> T>(call: *mut ()) {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call.cast::<Call<'_, T, F>>() };
    // SAFETY: this is the other stack, and the first frame there.
    let _there = unsafe { call.detour.arrive() };
    if let Some(f) = call.f.take() {
        call.result = Some(f());
    }
}

/// Calls `run(call)` with the stack pointer at `base`.
///
/// # Safety
/// 1. Below `base`, which is aligned to 16 bytes, lies a stack that no other code uses until this
///    is over.
/// 2. `run` may be called with `call`.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_on(
    call: *mut (),
    run: unsafe extern "C-unwind" fn(*mut ()),
    base: *mut u8,
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "lea rax, [rip + 2f]",
        "push rax",
        "mov rsp, rdx",
        ".cfi_endproc",
        // The inner frame: it returns to the address that was pushed, right below rbp.
        ".cfi_startproc",
        ".cfi_signal_frame",
        ".cfi_def_cfa rbp, 0",
        "call rsi",
        ".cfi_endproc",
        // The outer one.
        ".cfi_startproc",
        ".cfi_def_cfa rbp, 16",
        ".cfi_offset rbp, -16",
        "2:",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}
