//! Spans of the crate `tracing` that a fiber is in.
//!
//! A subscriber keeps, for each thread, the spans that were entered and not yet exited, in stack
//! order. A fiber that waits inside a span would leave its own on that stack, under those of its
//! neighbors. So a fiber exits its spans, innermost first, before it waits, and enters them again,
//! outermost first, when it resumes. Fibers that run meanwhile find the thread's stack as it was
//! before.
//!
//! The subscriber is foreign code that runs between the publishing of a ticket and the parking. So
//! it waits as a plain thread would (`set_fiber`), and its panics are caught.
//!
//! Invariant SN1: the record of an entered span is in the frame of `in_span`, which removes it from
//! the list before it returns or unwinds, in stack order. The list is the fiber's own.

use std::ptr::NonNull;

use tracing::Span;

use super::record::{Entered, Spans};
use crate::base::drop_guard::end_caught;
use crate::fiber::current;

impl Spans {
    /// Exits the fiber's spans: the fiber is about to wait.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        if let Some(innermost) = self.0.get() {
            exit_all(innermost);
        }
    }

    /// Enters the fiber's spans again: the fiber resumes.
    #[inline(always)]
    pub(crate) fn resume(&self) {
        if let Some(innermost) = self.0.get() {
            enter_all(innermost);
        }
    }
}

/// Runs `f` in `span`, which follows the fiber: whenever the fiber waits or yields it exits the
/// span, and enters it again when it resumes. So the events of `f` are in the span, and those of
/// other fibers on the same thread are not. The guard of [`Span::enter`] does not ensure that: do
/// not keep such a guard across a wait. On a plain thread this is [`Span::in_scope`].
///
/// Fibers that `f` spawns are not in the span: clone it for those. If the subscriber panics when
/// the fiber waits or resumes, the panic is caught. With the feature `tracing`.
///
/// # Panics
/// With the panic of `f`, or of the subscriber at the first entrance and the last exit.
///
/// # Cancellation
/// Not an interruption point; suspends only if `f` does.
///
/// # Blocking
/// While the subscriber runs. It waits as a plain thread, and so blocks the worker: it must not
/// wait for fibers.
///
/// # Examples
/// ```
/// use pirn::diag::in_span;
///
/// let span = tracing::info_span!("request", id = 7);
/// pirn::spawn(move || {
///     in_span(&span, || {
///         tracing::info!("before");
///         pirn::yield_now(); // Others run meanwhile, outside of the span.
///         tracing::info!("after");
///     });
/// })
/// .join()
/// .unwrap();
/// ```
#[doc(alias = "instrument")]
#[doc(alias = "in_scope")]
pub fn in_span<T>(span: &Span, f: impl FnOnce() -> T) -> T {
    let Some(fiber) = current::local().fiber() else {
        return span.in_scope(f);
    };
    let spans = &fiber.header().spans;
    let entered = Entered {
        span: span.clone(),
        below: spans.0.get(),
    };
    enter(&entered.span);
    spans.0.set(Some(NonNull::from(&entered)));
    let _leaving = Leaving {
        spans,
        entered: &entered,
    };
    f()
}

/// Removes a span from its fiber's list when its code is left.
struct Leaving<'a> {
    spans: &'a Spans,
    entered: &'a Entered,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.spans.0.set(self.entered.below);
        exit(&self.entered.span);
    }
}

#[cold]
fn exit_all(innermost: NonNull<Entered>) {
    as_thread(|| {
        let mut next = Some(innermost);
        while let Some(entered) = next {
            // SAFETY: SN1: its frame is below this one, on the same stack.
            let entered = unsafe { entered.as_ref() };
            end_caught(|| exit(&entered.span));
            next = entered.below;
        }
    });
}

#[cold]
fn enter_all(innermost: NonNull<Entered>) {
    fn outermost_first(entered: NonNull<Entered>) {
        // SAFETY: SN1, as above.
        let entered = unsafe { entered.as_ref() };
        if let Some(below) = entered.below {
            outermost_first(below);
        }
        end_caught(|| enter(&entered.span));
    }
    as_thread(|| outermost_first(innermost));
}

/// Runs `f` as code of the thread, not of the fiber, so that it cannot switch away from the fiber.
fn as_thread(f: impl FnOnce()) {
    current::as_thread(current::local(), f);
}

fn enter(span: &Span) {
    span.with_subscriber(|(id, dispatch)| dispatch.enter(id));
}

fn exit(span: &Span) {
    span.with_subscriber(|(id, dispatch)| dispatch.exit(id));
}
