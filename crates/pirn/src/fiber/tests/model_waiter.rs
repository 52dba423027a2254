//! Models of a queue of waiters that end their waits in every way.

use std::ptr::NonNull;

use super::stage::Block;
use crate::base::tests::explore::explore;
use crate::fiber::state::Code;
use crate::fiber::waiter::{WaitQueue, Waiter};
use crate::wait::park::lend_ticket;

/// The claimed waiter is before the first that is not due, also if the waiters in front of that one
/// have ended their wait by themselves and are only unlinked.
#[test]
fn model_waiter_not_yet_due() {
    explore("waiter_not_yet_due", 1, || {
        let (gone, early) = (Block::new(), Block::new());
        let _both = [&gone, &early].map(|block| block.renew(1));
        let tickets = [&gone, &early].map(|block| block.play(lend_ticket));
        let code = Code::TIMED_OUT;
        let mut waiters = [0, 1].map(|round| Waiter::new(tickets[round], code, round));
        let mut queue = WaitQueue::new();
        for waiter in &mut waiters {
            // SAFETY: the queue is this thread's, and dropped before the waiters.
            unsafe { queue.push(NonNull::from(waiter)) };
        }
        assert!(tickets[0].claim(code).is_some(), "the first gives up");
        assert!(queue.claim_first_if(|round| *round < 1, |_| ()).is_none());
        assert!(
            queue.claim_first(|_| ()).is_some(),
            "the second still waits"
        );
    });
}

/// The claimed waiter is the first of its kind that still waits; the others stay.
#[test]
fn model_waiter_of_a_kind() {
    explore("waiter_of_a_kind", 1, || {
        let blocks = [(); 4].map(|()| Block::new());
        let _all = blocks.each_ref().map(|block| block.renew(1));
        let tickets = blocks.each_ref().map(|block| block.play(lend_ticket));
        let code = Code::TIMED_OUT;
        let kinds = [2, 1, 1, 2];
        let mut at = 0..kinds.len();
        let mut waiters = tickets.map(|ticket| {
            let kind = at.next().map(|at| kinds[at]).expect("four");
            Waiter::new(ticket, code, (kind, false))
        });
        let mut queue = WaitQueue::new();
        for waiter in &mut waiters {
            // SAFETY: the queue is this thread's, and dropped before the waiters.
            unsafe { queue.push(NonNull::from(waiter)) };
        }
        let mut claim = |kind| {
            queue.claim_first_where(|place| place.0 == kind, |place| place.1 = true)
        };
        assert!(tickets[1].claim(code).is_some(), "the second gives up");
        assert!(claim(3).is_none());
        assert!(claim(1).is_some() && claim(1).is_none());
        assert!(claim(2).is_some());
        let left = queue.claim_first(|_| ());
        assert!(left.is_some() && queue.is_empty());
        let got = waiters.map(|waiter| waiter.into_payload().1);
        assert_eq!(got, [true, false, true, false]);
    });
}
