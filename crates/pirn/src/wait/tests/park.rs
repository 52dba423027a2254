//! Waits that are claimed before they begin, while a visitor holds the fiber, or long before the
//! enqueue.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::channel::bounded;
use crate::fiber::Ticket;
use crate::fiber::state::{Code, Parked};
use crate::fiber::ticket::Wake;
use crate::time::now;
use crate::wait::Reason;
use crate::wait::park::{park, ticket};
use crate::wait::spec::{End, How, Spec};
use crate::{Runtime, sleep, spawn};

/// The code with which the tests claim.
const CODE: Code = Code::case(3);

/// Calls its closure when it is dropped.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Calls `f` on a plain thread.
#[expect(clippy::disallowed_methods, reason = "a waker beside the fibers")]
fn beside<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::spawn(f)
}

/// Runs `body` on a runtime of one thread, where fibers may migrate if `free`.
fn on_one_thread<T: Send>(free: bool, body: impl FnOnce() -> T + Send) -> T {
    let builder = Runtime::builder().workers(1).max_threads(1);
    let builder = match free {
        // SAFETY: no code here keeps a reference to a thread-local over a wait.
        true => unsafe { builder.free_migration() },
        false => builder,
    };
    builder.build().expect("a runtime starts").run(body)
}

/// Calls `last` while a panic unwinds through the caller, and catches that panic.
fn unwind_through(last: impl FnMut()) {
    let unwinding = AssertUnwindSafe(|| {
        let _last = Finally(last);
        resume_unwind(Box::new(()));
    });
    assert!(catch_unwind(unwinding).is_err());
}

fn waits(ticket: Ticket) -> End {
    park(ticket, &Spec::of(Reason::Park))
}

/// Returns true if the wait ended by a claim that came before the fiber had parked.
fn is_early(end: End) -> bool {
    end.early && end.how == How::Woken(CODE)
}

/// Waits with a ticket that is claimed already.
fn waits_too_late() -> End {
    let ticket = ticket();
    ticket.claim(CODE).expect("not over yet").enqueue();
    waits(ticket)
}

/// Waits, and is claimed while another thread holds the fiber, as for a report.
fn waits_and_is_held() -> End {
    let ticket = ticket();
    let visitor = beside(move || {
        let header = ticket.fiber().header();
        let hold = loop {
            match header.state.hold() {
                Some(hold) => break hold,
                None => thread::yield_now(),
            }
        };
        let wake = ticket.claim(CODE).expect("not over yet");
        assert!(wake.into_fiber().is_none(), "a held fiber is not parked");
        assert_eq!(header.state.put_down(hold), Parked::Claimed(CODE));
        header.flags.set_claimed_early();
        Wake::of(ticket.fiber()).enqueue();
    });
    let end = waits(ticket);
    visitor.join().expect("it has held the fiber");
    end
}

/// Returns for each wait whether it was early: two amid a panic on the fiber's thread, two when the
/// fiber has left its stack amid the same panic.
fn waits_amid_a_panic(free: bool) -> Vec<bool> {
    let (tx, rx) = bounded(1);
    // On the only thread, so it runs once this fiber has left its stack.
    let other = spawn(move || tx.send(()));
    let early = RefCell::new(Vec::new());
    let wait = || {
        let end = waits_too_late();
        early.borrow_mut().push(is_early(end));
        // Only fibers that may migrate are held.
        let end = if free { waits_and_is_held() } else { end };
        early.borrow_mut().push(is_early(end));
    };
    unwind_through(|| {
        wait();
        let _ = rx.recv();
        wait();
    });
    assert_eq!(other.join().expect("it ends"), Ok(()));
    early.into_inner()
}

/// After a claim before the fiber had parked, its waker may still hand over a value. The end of the
/// wait says so, in each way to park.
#[test]
fn a_claim_before_the_fiber_has_parked_is_early() {
    assert!(is_early(waits_too_late()), "on a thread");
    for free in [false, true] {
        let early = on_one_thread(free, || {
            let mut early = vec![is_early(waits_too_late())];
            if free {
                early.push(is_early(waits_and_is_held()));
            }
            early.extend(waits_amid_a_panic(free));
            early
        });
        assert!(early.iter().all(|early| *early), "{free}: {early:?}");
    }
}

/// A wait with a ticket that was spent before an earlier wait ends at once, and not with the code
/// of that earlier wait.
#[test]
fn a_ticket_of_an_earlier_wait_ends_at_once() {
    for free in [false, true] {
        let (later, end) = on_one_thread(free, || {
            let spent = ticket();
            spent.claim(CODE).expect("not over yet").enqueue();
            let soon = now() + Duration::from_millis(1);
            let later = park(ticket(), &Spec::of(Reason::Park).until(Some(soon)));
            (later.how, waits(spent))
        });
        assert_eq!(later, How::TimedOut);
        assert_eq!(end.how, How::Woken(Code::RETRY), "{free}");
        assert!(end.early, "{free}");
    }
}

/// A fiber waits in place while it unwinds, and another fiber waits for the thread. The waker
/// claims the wait, and enqueues the fiber after the time for which it may block its thread: the
/// wait ends by that.
#[test]
fn a_wait_in_place_ends_by_the_enqueue() {
    for free in [false, true, false, true] {
        let in_time = on_one_thread(free, || {
            // Ready, so it waits for the thread.
            let other = spawn(|| ());
            let enqueued = Arc::new(AtomicBool::new(false));
            let in_time = Cell::new(false);
            unwind_through(|| {
                let (ticket, flag) = (ticket(), Arc::clone(&enqueued));
                let waker = beside(move || claims_early_and_enqueues_late(ticket, &flag));
                let end = waits(ticket);
                let was_enqueued = enqueued.load(Ordering::SeqCst);
                let was_parked = waker.join().expect("it has claimed");
                let after = was_enqueued || !was_parked;
                in_time.set(after && end.how == How::Woken(CODE));
            });
            other.join().expect("it ends");
            in_time.get()
        });
        assert!(in_time, "{free}: it went on before its waker had finished");
    }
}

/// Claims the wait of `ticket`. Returns true if it was parked, and so had to be enqueued.
fn claims_early_and_enqueues_late(ticket: Ticket, enqueued: &AtomicBool) -> bool {
    while !ticket.fiber().header().state.is_parked() {
        thread::yield_now();
    }
    let wake = ticket.claim(CODE).expect("not over yet");
    let Some(fiber) = wake.into_fiber() else {
        // The fiber was on its way from one wait to the next.
        return false;
    };
    sleep(Duration::from_millis(30)).expect("a plain thread is not interrupted");
    enqueued.store(true, Ordering::SeqCst);
    Wake::of(fiber).enqueue();
    true
}
