//! Amid a poll: where a fiber must not leave its stack.
//!
//! Owns: the mark on a fiber that polls a future, and what becomes of a wait meanwhile. Does not
//! own: polling (`future`), nor how a wait with a mark on its fiber is told from others at no price
//! (`park::ticket_to_park`).
//!
//! A poll may have entered something that belongs to the thread, as a runtime's context, and
//! whoever wrote it takes for granted that nothing else runs on the thread before it returns. To
//! block the thread in place would hold up the fibers that have settled on it, perhaps the one
//! that is waited for. So a wait that would really have to wait panics, with advice; giving way
//! because the budget is spent does not happen until the poll is over. A plain thread blocks, as
//! ever. A fiber that unwinds must not panic: it waits as any fiber that unwinds.
//!
//! What hands out borrows and waits for their end (a scope, `run`, `blocking`) asks before it begins:
//! its wait must not unwind.

use std::thread::panicking;

use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};

/// Runs `poll`, in which the calling fiber does not wait.
pub(crate) fn within<T>(poll: impl FnOnce() -> T) -> T {
    let Some(fiber) = current::local().fiber() else {
        return poll();
    };
    let _inside = Inside {
        fiber,
        outer: mark(fiber, true),
    };
    poll()
}

/// Whether a fiber calls that is in the middle of a poll.
#[inline]
pub(crate) fn is_polling(local: &Local) -> bool {
    // SAFETY: H1.
    let marked = |fiber: FiberPtr| unsafe { fiber.as_ref() }.marks.is_polling();
    // PERF: the header of a fiber that yields need not be in the cache.
    local.may_poll() && local.fiber().is_some_and(marked)
}

/// Whether a wait of the caller's is to panic.
#[inline]
pub(crate) fn forbids_waiting(local: &Local) -> bool {
    is_polling(local) && !panicking()
}

/// Panics if a wait would.
#[inline]
#[track_caller]
pub(crate) fn refuse_in_poll() {
    if forbids_waiting(current::local()) {
        refuse();
    }
}

/// Panics with advice.
#[cold]
#[track_caller]
pub(crate) fn refuse() -> ! {
    panic!(
        "a call that waits, inside the poll of a future: it would hold up every fiber of this \
         worker; call it on a fiber, and await that: `pirn::future::fiber(|| …).await`"
    );
}

/// A poll; dropping this leaves it.
struct Inside {
    fiber: FiberPtr,
    outer: bool,
}

impl Drop for Inside {
    fn drop(&mut self) {
        mark(self.fiber, self.outer);
    }
}

fn mark(fiber: FiberPtr, polling: bool) -> bool {
    current::local().set_polling(polling);
    // SAFETY: H1, H2: the fiber that calls.
    unsafe { fiber.as_ref() }.marks.set_polling(polling)
}
