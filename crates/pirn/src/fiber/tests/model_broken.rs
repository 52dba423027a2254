//! Two protocols that look right and are not, each with a model that finds the error. They are the
//! reason why the shipped state is one word, and why a ticket is never compared apart from the
//! claim.

use std::sync::Arc;

use crate::base::tests::explore::find;
use crate::shim::atomic::{AtomicBool, AtomicU32, Ordering};
use crate::shim::thread;
use crate::sys::parker::Parker;

const RUNNING: u32 = 0;
const PARKING: u32 = 1;
const PARKED: u32 = 2;

/// State and "wake pending" in two words. The parker announces, commits, then looks at the
/// latch; the waker looks at the state, then sets the latch.
struct TwoWords {
    state: AtomicU32,
    wake_pending: AtomicBool,
    parker: Parker,
}

impl TwoWords {
    fn park(&self) {
        self.state.store(PARKING, Ordering::SeqCst);
        self.state.store(PARKED, Ordering::SeqCst);
        if self.wake_pending.swap(false, Ordering::SeqCst) {
            self.state.store(RUNNING, Ordering::SeqCst);
        } else {
            self.parker.park();
        }
    }

    fn wake(&self) {
        let seen = self.state.load(Ordering::SeqCst);
        if seen != PARKED {
            self.wake_pending.store(true, Ordering::SeqCst);
        } else if self
            .state
            .compare_exchange(PARKED, RUNNING, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            self.parker.unpark();
        }
    }
}

/// The waker sees PARKING, the parker commits and finds the latch clear, the waker sets it:
/// the wake is lost.
#[test]
fn model_two_words_lose_a_wake() {
    find("two_words_lose_a_wake", 2, "deadlock", || {
        let words = Arc::new(TwoWords {
            state: AtomicU32::new(RUNNING),
            wake_pending: AtomicBool::new(false),
            parker: Parker::new(),
        });
        let waker = {
            let words = Arc::clone(&words);
            thread::spawn(String::new(), move || words.wake()).expect("a modelled thread")
        };
        words.park();
        waker.join().expect("wake returns");
    });
}

/// One word for the state, but the epoch beside it: a waker compares its ticket, then claims.
struct TicketApart {
    state: AtomicU32,
    epoch: AtomicU32,
    ended_by: AtomicU32,
    parker: Parker,
}

impl TicketApart {
    fn wake(&self, ticket: u32, me: u32) {
        if self.epoch.load(Ordering::SeqCst) != ticket {
            return;
        }
        if self
            .state
            .compare_exchange(PARKED, RUNNING, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            self.ended_by.store(me, Ordering::SeqCst);
            self.parker.unpark();
        }
    }

    /// One wait; the wakers come after the park, so they are not to blame.
    fn wait(&self, started: impl FnOnce(u32)) -> u32 {
        self.state.store(PARKED, Ordering::SeqCst);
        started(self.epoch.load(Ordering::SeqCst));
        self.parker.park();
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.ended_by.load(Ordering::SeqCst)
    }
}

/// Two wakers have the first ticket and find it valid; one ends the first wait, and the other's
/// claim ends the second.
#[test]
fn model_separate_ticket_check_wakes_the_wrong_wait() {
    find("separate_ticket_check", 2, "the wrong waker", || {
        let fiber = Arc::new(TicketApart {
            state: AtomicU32::new(RUNNING),
            epoch: AtomicU32::new(1),
            ended_by: AtomicU32::new(0),
            parker: Parker::new(),
        });
        let wake = |ticket, me| {
            let fiber = Arc::clone(&fiber);
            let body = move || fiber.wake(ticket, me);
            drop(thread::spawn(String::new(), body).expect("a modelled thread"));
        };
        let _ = fiber.wait(|ticket| {
            wake(ticket, 1);
            wake(ticket, 2);
        });
        let by = fiber.wait(|ticket| wake(ticket, 3));
        assert_eq!(by, 3, "ended by the wrong waker");
    });
}
