//! Running a function on another stack, beside the frames of the caller.
//!
//! A call, not a switch: the caller goes on when the function has returned or unwound, so nothing is
//! saved but where its own stack was.
//!
//! ```text
//!  stack of the caller             the other stack
//!  | frames of the caller   |     | record                 |
//!  | return address         |     +------------------------+ base
//!  | rbp of the caller      |     | return address         |  into `call_on`
//!  +------------------------+ rbp | frames of the function |
//! ```
//!
//! Unwinders, and so panics and backtraces, go through `call_on` as through any frame: it says that its own
//! ends 16 bytes above rbp, wherever that is.
//!
//! Not with the corosensei backend, whose targets have no such call here; nor under a sanitizer, which would have
//! to be told.

use std::arch::naked_asm;

use super::stack::Stack;

/// There is another stack to run on.
pub(crate) const ASIDE: bool = true;

/// Calls `f` on `stack`, and returns what it returns; if it unwinds, so does this.
#[inline]
pub(crate) fn aside<T, F: FnOnce() -> T>(stack: &mut Stack, f: F) -> T {
    let mut call = Call {
        f: Some(f),
        result: None,
    };
    // SAFETY: SK1: the stack is mapped, and nobody runs on it: its one handle is borrowed until the call
    // has returned. `run` gets the call that it is made for.
    unsafe {
        call_on((&raw mut call).cast(), run::<T, F>, stack.base().as_ptr());
    }
    call.result.expect("a call that returns has a result")
}

/// What crosses over, and what comes back.
struct Call<T, F> {
    f: Option<F>,
    result: Option<T>,
}

/// # Safety
/// `call` points to a `Call<T, F>` that nobody else uses meanwhile.
unsafe extern "C-unwind" fn run<T, F: FnOnce() -> T>(call: *mut ()) {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call.cast::<Call<T, F>>() };
    if let Some(f) = call.f.take() {
        call.result = Some(f());
    }
}

/// Calls `run(call)` with the stack pointer at `base`.
///
/// # Safety
/// 1. Below `base`, which is aligned to 16 bytes, lies a stack that nobody uses until this is over.
/// 2. `run` may be called with `call`.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_on(
    call: *mut (),
    run: unsafe extern "C-unwind" fn(*mut ()),
    base: *mut u8,
) {
    naked_asm!(
        ".cfi_startproc",
        // Debuggers take a caller below its callee for a damaged stack, but not below such a frame.
        ".cfi_signal_frame",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdx",
        "call rsi",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}
