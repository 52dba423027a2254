//! The bound of a dispatcher's queue: a submitter waits while the queue is full.

use std::sync::Arc;

use crate::fiber::waiter::WaitQueue;
use crate::sched::deterministic::draw::outside;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, Reason, Spec, wait_in};

/// The capacity of the queue, and its waiters.
pub(super) struct Room {
    seats: Lock<Seats>,
    most: usize,
}

struct Seats {
    taken: usize,
    waiters: WaitQueue<()>,
}

/// The slot that one fiber occupies until it starts or is dropped unrun.
pub(super) struct Seat(Arc<Room>);

impl Describe for Seats {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Dispatcher {
            waiting: self.waiters.count(),
        }
    }
}

impl Room {
    pub(super) fn new(most: usize) -> Room {
        let seats = Seats {
            taken: 0,
            waiters: WaitQueue::new(),
        };
        Room {
            seats: Lock::new(seats),
            most,
        }
    }

    /// Waits for a slot, in order of arrival. `elsewhere`: the fibers that hold the slots belong to
    /// another runtime than the caller.
    pub(super) fn enter(self: &Arc<Self>, elsewhere: bool) -> Seat {
        let attempt = |seats: &mut Seats| {
            if seats.taken == self.most {
                return Attempt::Wait(());
            }
            seats.taken += 1;
            Attempt::Done(())
        };
        // Only a free slot ends this wait: it has no limit and is no interruption point.
        let spec = Spec::of(Reason::Dispatch);
        let wait = || wait_in(&self.seats, |seats| &mut seats.waiters, &spec, attempt);
        let _ = match elsewhere {
            true => outside(wait),
            false => wait(),
        };
        Seat(Arc::clone(self))
    }

    fn leave(&self) {
        let next = {
            let mut seats = self.seats.lock();
            let next = seats.waiters.claim_first(|()| {});
            // The slot passes to the first waiter.
            seats.taken -= usize::from(next.is_none());
            next
        };
        if let Some(next) = next {
            next.enqueue();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.leave();
    }
}
