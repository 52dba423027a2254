//! The queue of a limited dispatcher: a bounded number of its fibers are active at a time, and the
//! others wait in order of arrival.
//!
//! A fiber takes its turn when it is given to the pool and has it until it ends. The [`Turn`] lies
//! in its locals from its submission on, whether the fiber will run its closure or not. Fibers that
//! wait here are already counted in the pool (`enqueue::admit`), so the pool does not end before
//! them.
//!
//! Limits may be chained: a fiber that has its turn here then waits at the next one, and gives up
//! both turns at its end.
//!
//! Invariants:
//! * AL1. `active` counts fibers that have been let through and have not given up their [`Turn`].
//!   While fewer than `most` are active, none waits.

use std::sync::Arc;

use crate::base::list::Fifo;
use crate::base::mutant::mutant;
use crate::fiber::{FiberHead, FiberLocal, FiberPtr, current};
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue;
use crate::shim::Lock;

/// The queue in which fibers of one limited dispatcher wait for their turn.
pub(super) struct ActiveLimit {
    places: Lock<Places>,
    most: usize,
    pool: Arc<Pool>,
    /// The next limit.
    further: Option<Arc<ActiveLimit>>,
}

struct Places {
    active: usize,
    waiting: Fifo<FiberHead>,
}

/// The right of one fiber to be active, now or when it is let through.
struct Turn(Arc<ActiveLimit>);

/// The turn of a fiber. Dropped last: none of the fiber's code runs after that.
static TURN: FiberLocal<Option<Turn>> = FiberLocal::lasting(|| None);

/// Accepts an admitted fiber that is not published yet.
pub(super) fn submit(limit: &Arc<ActiveLimit>, fiber: FiberPtr) {
    if !mutant!("turn_not_kept") {
        TURN.give(fiber, Some(Turn(Arc::clone(limit))));
    }
    limit.submit(fiber);
}

impl ActiveLimit {
    pub(super) fn new(
        most: usize,
        pool: Arc<Pool>,
        further: Option<Arc<ActiveLimit>>,
    ) -> ActiveLimit {
        let places = Places {
            active: 0,
            waiting: Fifo::new(),
        };
        ActiveLimit {
            places: Lock::new(places),
            most,
            pool,
            further,
        }
    }

    /// Gives the fiber its turn here, now or later.
    fn submit(&self, fiber: FiberPtr) {
        {
            let mut places = self.places.lock();
            if places.active >= self.most {
                places.waiting.push_back(fiber);
                return;
            }
            places.active += 1;
        }
        self.let_through(fiber);
    }

    /// Returns true if the running fiber has its turn here.
    pub(super) fn is_current(&self) -> bool {
        let own = TURN.with(|turn| turn.as_ref().map(|Turn(limit)| Arc::clone(limit)));
        let mut next = own.as_deref();
        while let Some(limit) = next {
            if std::ptr::eq(limit, self) {
                return true;
            }
            next = limit.further.as_deref();
        }
        false
    }

    fn let_through(&self, fiber: FiberPtr) {
        match &self.further {
            Some(further) => further.submit(fiber),
            None => enqueue::queue(&self.pool, current::local(), fiber),
        }
    }

    /// Gives the turn of an ended fiber to the first that waits.
    fn leave(&self) {
        let next = {
            let mut places = self.places.lock();
            let next = places.waiting.pop_front();
            places.active -= usize::from(next.is_none());
            next
        };
        if let Some(fiber) = next {
            self.let_through(fiber);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut limit = Some(&self.0);
        while let Some(left) = limit {
            left.leave();
            limit = left.further.as_ref();
        }
    }
}
