//! Amid a poll: where a fiber must not leave its stack.
//!
//! Owns: the mark on a thread whose fiber polls a future, and what becomes of a wait meanwhile. Does
//! not own: polling (`future`).
//!
//! A poll may have entered something that belongs to the thread, as a runtime's context, and
//! whoever wrote it takes for granted that nothing else runs on the thread before it returns. To
//! block the thread in place would hold up the fibers that have settled on it, perhaps the one
//! that is waited for. So a wait that would really have to wait panics, with advice; giving way
//! because the budget is spent does not happen until the poll is over. A plain thread blocks, as
//! ever. A fiber that unwinds must not panic: it waits as any fiber that unwinds, and takes the mark
//! off, since others may come to run. (If the panic is caught inside the poll, that goes on
//! without.) Nobody else leaves the thread before the poll does, so the mark is the thread's, in
//! whose record a wait looks anyway.
//!
//! While a fiber of a thread is parked in the middle of unwinding, all of its fibers may seem to unwind, and nothing
//! forbids them to wait (`left_unwinding`).
//!
//! What hands out borrows and waits for their end (a scope, `run`, `blocking`) asks before it begins:
//! its wait must not unwind.

use std::ptr;
use std::task::Waker;
use std::thread::panicking;

use super::agenda::Desk;
use super::aside;
use crate::base::dropping::end_caught;
use crate::fiber::current::{self, Local, Polling};
use crate::fiber::jobs::promote_all;

/// Runs `poll`, in which the calling fiber does not wait, and gives way after it if its budget is spent;
/// what futures want to be woken for in time is noted at `desk`. (Not on a plain thread: that may block inside
/// a poll, and would not look at its desk meanwhile.)
pub(crate) fn within_own<T>(desk: &Desk, poll: impl FnOnce() -> T) -> T {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return poll();
    };
    // JO1: the frames of the poll are elsewhere, and in it nothing is promoted.
    promote_all(local);
    let _inside = Inside::outer(local);
    local.set_polling(Polling::Ours);
    local.set_desk(desk.address());
    aside::run(local, fiber, poll)
}

/// Runs what is in no poll, though the caller may be: fibers, by the thread that drives them.
pub(crate) fn apart<T>(f: impl FnOnce() -> T) -> T {
    let local = current::local();
    let _apart = Inside::outer(local);
    local.set_polling(Polling::Nothing);
    local.set_desk(ptr::null());
    f()
}

/// Runs `poll`, in which the calling fiber does not wait.
#[cfg(all(feature = "tokio", not(any(loom, shuttle))))]
pub(crate) fn within<T>(poll: impl FnOnce() -> T) -> T {
    let local = current::local();
    if local.fiber().is_none() {
        return poll();
    }
    let _inside = Inside::outer(local);
    if local.polling() == Polling::Nothing {
        local.set_polling(Polling::Theirs);
    }
    poll()
}

/// Whether a wait of the caller's is to panic.
#[inline]
pub(crate) fn forbids_waiting(local: &Local) -> bool {
    local.is_polling() && !panicking()
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

/// Calls a waker, which is code of the user's. Whoever wakes has others to wake, and what a waker does is
/// none of its business: it may not wait, and if it panics, that ends here.
pub(crate) fn call(waker: Waker) {
    let local = current::local();
    let _inside = Inside::outer(local);
    // Whoever it is: a worker that waited on its own stack would hold up all of its fibers.
    if local.polling() == Polling::Nothing {
        local.set_polling(Polling::Theirs);
    }
    end_caught(|| waker.wake());
}

/// Whether a future that could go on is to give way instead: it is polled by a fiber whose budget
/// is spent, and which gives way between polls. Counts one operation.
pub(crate) fn is_spent() -> bool {
    let local = current::local();
    if local.polling() != Polling::Ours || !local.spend() || !local.is_to_give_way() {
        return false;
    }
    local.spend_with_next();
    true
}

/// A poll; dropping this leaves it.
struct Inside {
    outer: Polling,
    desk: *const (),
}

impl Inside {
    fn outer(local: &Local) -> Inside {
        Inside {
            outer: local.polling(),
            desk: local.desk(),
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let local = current::local();
        local.set_polling(self.outer);
        local.set_desk(self.desk);
    }
}
