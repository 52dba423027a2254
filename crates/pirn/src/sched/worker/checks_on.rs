//! Checks of the feature `diagnostics` on each switch: a fiber runs on its own stack, will resume
//! there, and the canary at the stack's low end is intact. A failure is reported with the fiber's
//! name, and the process ends: memory is damaged.
//!
//! CH1. Called on the fiber's worker, which so owns the fields of its header (H2), for a fiber that
//! has a stack.

use std::fmt::Write;

use crate::context::{SignalWriter, stack_pointer};
use crate::fiber::{FiberPtr, describe_owner};

/// Checks the running fiber, which is about to be left.
pub(in crate::sched) fn leaving(fiber: FiberPtr) {
    look(fiber, stack_pointer(), "runs outside of its stack");
}

/// Checks a started fiber that is about to be switched to.
pub(super) fn entering(fiber: FiberPtr) {
    // SAFETY: CH1.
    let context = unsafe { &*fiber.header().context() };
    // SAFETY: suspended, and only this worker could resume it.
    let frame = unsafe { context.frame() };
    if let Some(frame) = frame {
        look(fiber, frame.sp, "would go on outside of its stack");
    }
}

fn look(fiber: FiberPtr, sp: usize, why: &str) {
    // SAFETY: CH1.
    let Some(stack) = (unsafe { &*fiber.header().stack() }) else {
        return fail(fiber, "has no stack");
    };
    let range = stack.range();
    // The end itself is where the first frame begins. A fiber that leaves inside a poll is on
    // another.
    if !fiber.header().flags.is_on_poll_stack() && (sp < range.start || sp > range.end) {
        fail(fiber, why);
    }
    if !stack.canary_is_intact() {
        fail(fiber, "has a damaged stack: its canary is gone");
    }
}

#[cold]
fn fail(fiber: FiberPtr, what: &str) {
    let mut line = SignalWriter::new();
    // An overlong line is truncated, so the results are ignored.
    let _ = line.write_str("pirn: ");
    describe_owner(fiber.as_non_null().cast(), &mut line);
    let _ = write!(line, " {what}");
    line.finish_line();
    std::process::abort();
}
