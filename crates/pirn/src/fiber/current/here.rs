//! Access to the runtime's thread-local: which fiber runs on this thread, and on which stack.
//!
//! Invariants:
//! * C1. All access goes through [`local`], which the compiler can neither inline nor prove free of
//!   effects, so two calls with a suspension between them are two reads. (Preventing inlining alone
//!   is not enough: with one codegen unit or fat LTO the optimizer infers that such a function
//!   always returns the same address and merges the calls.)
//! * C2. The reference is not kept across a suspension point. In settled mode that is only style,
//!   since a started fiber stays on its thread; under free migration it is required for soundness.
//! * C3. `Local` has no destructor, so it can be accessed while the thread's other thread-locals
//!   are being destroyed.

use std::ptr;
use std::thread::panicking;

use super::record::Local;
use crate::shim::thread_local_const;

thread_local_const! {
    static LOCAL: Local = Local::new()
}

/// Returns the thread's own record (C1, C2).
#[inline(never)]
pub(crate) fn local() -> &'static Local {
    let mut here: *const Local = LOCAL.with(ptr::from_ref);
    // SAFETY: an empty instruction that the compiler must assume to change `here` (C1).
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) here, options(nostack, preserves_flags));
    }
    // SAFETY: C3: the record lives as long as its thread. The caller is on that thread, and does not
    // keep the reference over a suspension (C2); it is not `Send`.
    unsafe { &*here }
}

/// Calls `f`, which may run callbacks, while the running fiber has already published its ticket: a
/// second wait on its behalf would have the same ticket. Waits in `f` block the thread, as on a plain
/// thread. It does not unwind.
#[inline]
pub(crate) fn as_thread<R>(local: &Local, f: impl FnOnce() -> R) -> R {
    let fiber = local.fiber();
    // A report must not take the fiber for a suspended one.
    let before = local.replace_beneath(local.on_stack());
    local.set_fiber(None);
    let result = f();
    local.set_fiber(fiber);
    local.replace_beneath(before);
    result
}

/// Called when a panic of the running fiber has ended. If no fiber unwinds on this thread any more,
/// the next one that does can be distinguished again.
#[cold]
pub(in crate::fiber) fn unwound() {
    if !panicking() {
        local().set_left_unwinding(false);
    }
}

/// Returns whether the caller itself unwinds: false also if another fiber of this thread is
/// suspended while unwinding, which `std` cannot distinguish from it.
pub(crate) fn is_unwinding(local: &Local) -> bool {
    panicking() && !local.left_unwinding()
}
