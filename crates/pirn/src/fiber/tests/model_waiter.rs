//! Models of a queue of waiters whose waits end in every way.

use std::ptr::NonNull;

use super::stage::Block;
use crate::base::tests::explore::explore;
use crate::fiber::state::Code;
use crate::fiber::waiter::{WaitQueue, Waiter};
use crate::wait::park::lend_ticket;

/// Who is claimed stands before the first that is not due, also when those in front of that
/// one have ended their wait by themselves and are only unlinked.
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
