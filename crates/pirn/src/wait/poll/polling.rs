//! Polls: code in which a fiber must not leave its stack.
//!
//! Owns: the mark on a thread with a fiber that polls a future, and the handling of waits
//! meanwhile. Does not own: polling (`future`), nor the timers of a poll (`poll_timers`).
//!
//! A poll may have entered a context that belongs to the thread, such as a runtime's, and its
//! author assumes that nothing else runs on the thread before it returns. Blocking the thread in
//! place would hold up the fibers that have settled on it, possibly the one that is waited for. So:
//! * A call that would really have to wait panics, with advice.
//! * A yield for a spent budget is postponed to the end of the poll.
//! * A plain thread blocks as usual. But a waker must not wait on any thread (`call`).
//! * A fiber that unwinds must not panic: it waits like any unwinding fiber, and removes the mark,
//!   since others may come to run. (If the panic is caught inside the poll, the poll continues
//!   without the mark.)
//!
//! No other code leaves the thread before the poll does, so the mark is the thread's. It is in the
//! record that a wait reads anyway.
//!
//! While a fiber of a thread is parked in the middle of unwinding, all of its fibers may appear to
//! unwind, and waiting is not forbidden to them (`left_unwinding`). It is to the worker itself, which
//! calls wakers on its own stack.
//!
//! Functions that hand out borrows and wait for their end (a scope, `run`, `blocking`) check before
//! they begin: their wait must not unwind. A scope runs code in between, after which waits may be
//! forbidden: it waits as if it were in no poll (`apart`).

use std::ptr;
use std::task::Waker;
use std::thread::panicking;

use crate::base::drop_guard::end_caught;
use crate::fiber::current::{self, Local, Polling};

/// Runs code that is in no poll, even if the caller is: fibers, for the thread that drives them.
pub(crate) fn apart<T>(f: impl FnOnce() -> T) -> T {
    let local = current::local();
    let _apart = Inside::outer(local);
    local.set_polling(Polling::Nothing);
    local.set_poll_timers(ptr::null());
    f()
}

/// Runs `poll`, in which the calling fiber does not wait.
#[cfg(any(feature = "sim", all(feature = "tokio", not(pirn_modelled))))]
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

/// Returns true if a wait of the caller must panic.
#[inline]
pub(crate) fn forbids_waiting(local: &Local) -> bool {
    local.is_polling()
        && (!panicking() || local.left_unwinding() && local.fiber().is_none())
}

/// Panics if a wait would.
#[inline]
#[track_caller]
pub(crate) fn refuse_in_poll() {
    if forbids_waiting(current::local()) {
        refuse();
    }
}

/// Panics with advice on alternatives.
#[cold]
#[track_caller]
pub(crate) fn refuse() -> ! {
    let local = current::local();
    if local.left_unwinding() && local.fiber().is_none() {
        // A destructor that waits, now that this unwinds, must not be refused: `std` would abort.
        local.set_polling(Polling::Nothing);
    }
    panic!(
        "a call that waits, inside the poll of a future: it would hold up every fiber of this \
         worker; call it on a fiber, and await that: `pirn::future::fiber(|| …).await`"
    );
}

/// Calls a waker, which is user code. The caller has other parties to wake, so the waker must not
/// wait, and its panic ends here.
pub(crate) fn call(waker: Waker) {
    let local = current::local();
    let _inside = Inside::outer(local);
    // A worker that waited on its own stack would hold up all of its fibers.
    if local.polling() == Polling::Nothing {
        local.set_polling(Polling::Theirs);
    }
    end_caught(|| waker.wake());
}

/// Returns true if a future that could proceed is to yield instead: a fiber with a spent budget
/// polls it, and yields between polls. Counts one operation.
pub(crate) fn is_spent() -> bool {
    let local = current::local();
    // Where each operation spends the budget, the end of the poll is the choice.
    if local.polling() != Polling::Ours
        || local.time_is_virtual()
        || !local.consume_budget()
        || !local.must_yield()
    {
        return false;
    }
    local.spend_with_next();
    true
}

/// A poll in progress; dropping this leaves it.
pub(super) struct Inside {
    outer: Polling,
    poll_timers: *const (),
}

impl Inside {
    /// Records the poll that is in progress on this thread, if any.
    pub(super) fn outer(local: &Local) -> Inside {
        Inside {
            outer: local.polling(),
            poll_timers: local.poll_timers(),
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let local = current::local();
        local.set_polling(self.outer);
        local.set_poll_timers(self.poll_timers);
    }
}
