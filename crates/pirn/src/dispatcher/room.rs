//! The bound of a dispatcher's queue: whoever would exceed it waits before it submits.

use std::sync::Arc;

use crate::fiber::waiter::WaitQueue;
use crate::sched::seeded::outside;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, Reason, Spec, wait_in};

/// How many may be queued.
pub(super) struct Room {
    seats: Lock<Seats>,
    most: usize,
}

struct Seats {
    taken: usize,
    waiters: WaitQueue<()>,
}

/// The place in the queue that one fiber takes, until it starts or is dropped unrun.
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

    /// Waits for a place, in order of arrival. `elsewhere`: the fibers that have the places are
    /// not of the caller's runtime.
    pub(super) fn enter(self: &Arc<Self>, elsewhere: bool) -> Seat {
        let attempt = |seats: &mut Seats| {
            if seats.taken == self.most {
                return Attempt::Wait(());
            }
            seats.taken += 1;
            Attempt::Done(())
        };
        // Nothing but a seat ends this wait: it has no limit and is no interruption point.
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
            // The seat goes to whoever waits first.
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
