//! The bound of a dispatcher's queue: a submitter waits while the queue is full.

use std::panic::Location;
use std::sync::Arc;

use crate::fiber::waiter::WaitQueue;
use crate::sched::deterministic::draw::outside;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, Reason, Spec, wait_in};

/// The capacity of the queue, and its waiters.
pub(super) struct QueueBound {
    slots: Lock<Slots>,
    most: usize,
}

struct Slots {
    taken: usize,
    waiters: WaitQueue<()>,
}

/// The slot that one fiber occupies until it starts or is dropped unrun.
pub(super) struct Slot(Arc<QueueBound>);

impl Describe for Slots {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Dispatcher {
            waiting: self.waiters.count(),
        }
    }
}

impl QueueBound {
    pub(super) fn new(most: usize) -> QueueBound {
        let slots = Slots {
            taken: 0,
            waiters: WaitQueue::new(),
        };
        QueueBound {
            slots: Lock::new(slots),
            most,
        }
    }

    /// Waits for a slot, in order of arrival. `elsewhere`: the fibers that hold the slots belong to
    /// another runtime than the caller.
    #[track_caller]
    pub(super) fn enter(self: &Arc<Self>, elsewhere: bool) -> Slot {
        let attempt = |slots: &mut Slots| {
            if slots.taken == self.most {
                return Attempt::Wait(());
            }
            slots.taken += 1;
            Attempt::Done(())
        };
        // Only a free slot ends this wait: it has no limit and is no interruption point.
        let spec = Spec::of(Reason::Dispatch).at(Location::caller());
        let wait = || wait_in(&self.slots, |slots| &mut slots.waiters, &spec, attempt);
        let _ = match elsewhere {
            true => outside(wait),
            false => wait(),
        };
        Slot(Arc::clone(self))
    }

    fn leave(&self) {
        let next = {
            let mut slots = self.slots.lock();
            let next = slots.waiters.claim_first(|()| {});
            // The slot passes to the first waiter.
            slots.taken -= usize::from(next.is_none());
            next
        };
        if let Some(next) = next {
            next.enqueue();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.leave();
    }
}
