//! Samples the frames of a fiber that keeps its thread, by a signal to the thread.

use std::backtrace::Backtrace;

use crate::context::{self, Stand};
use crate::fiber::Header;
use crate::sched::pool::remote::Remote;
use crate::sys::sample::{Sample, sample};

/// Samples the worker's thread. `None` if it does not answer.
pub(super) fn ask(remote: &Remote) -> Option<Sample> {
    sample(remote.thread().number()?, end_of_stack)
}

/// The frames at that moment, without their names.
pub(super) fn frames(sample: &Sample) -> Option<Backtrace> {
    let stand = Stand {
        ip: sample.ip,
        sp: sample.sp,
        fp: sample.fp,
        bx: sample.bx,
        end: sample.end,
        words: &sample.words,
    };
    let mut frames = None;
    context::visit_copy(&stand, &mut || frames = Some(Backtrace::force_capture()));
    frames
}

/// The end of the stack of the fiber that `address` is on. In a signal handler, on the thread
/// that is on that stack.
fn end_of_stack(address: usize) -> Option<usize> {
    let stack = context::stack_at(address)?;
    // SAFETY: H1; a stack that is in use belongs to a fiber (`settle`, `wait::poll::poll_stack`).
    let owner = unsafe { stack.owner.cast::<Header>().as_ref() }?;
    // Frames of a poll continue on another stack, which is not copied.
    (!owner.flags.is_on_poll_stack()).then_some(stack.end)
}
