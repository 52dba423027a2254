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
//! If the pool has stopped, fibers that are let through by other threads than its workers are
//! refused. The end of each would let the next one through, within the end of the one before. So
//! none is let through while one is being refused; the thread that refuses does it after that.
//!
//! Invariants:
//! * AL1. `active` counts fibers that have been let through and have not given up their [`Turn`]:
//!   at most `most`. While fewer are active, none waits, unless one is being refused.

use std::sync::Arc;

use crate::base::list::Fifo;
use crate::base::mutant::mutant;
use crate::fiber::{FiberHead, FiberLocal, FiberPtr, current, entry};
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
    /// The number of threads that are refusing one of the fibers.
    refusing: usize,
}

/// The right of one fiber to be active, now or when it is let through.
struct Turn(Arc<ActiveLimit>);

/// The turn of a fiber. Dropped last: none of the fiber's code runs after that.
static TURN: FiberLocal<Option<Turn>> = FiberLocal::lasting(|| None);

/// Accepts an admitted fiber that is not published yet; gives it back if the pool has stopped.
pub(super) fn submit(limit: &Arc<ActiveLimit>, fiber: FiberPtr) -> Result<(), FiberPtr> {
    if !mutant!("turn_not_kept") {
        TURN.give(fiber, Some(Turn(Arc::clone(limit))));
    }
    limit.submit(fiber)
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
            refusing: 0,
        };
        ActiveLimit {
            places: Lock::new(places),
            most,
            pool,
            further,
        }
    }

    /// Gives the fiber its turn here, now or later; gives it back if the pool has stopped.
    fn submit(&self, fiber: FiberPtr) -> Result<(), FiberPtr> {
        {
            let mut places = self.places.lock();
            if places.active >= self.most {
                places.waiting.push_back(fiber);
                return Ok(());
            }
            places.active += 1;
        }
        self.let_through(fiber)
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

    fn let_through(&self, fiber: FiberPtr) -> Result<(), FiberPtr> {
        match &self.further {
            Some(further) => further.submit(fiber),
            None => enqueue::queue(&self.pool, current::local(), fiber),
        }
    }

    /// Gives the turn of an ended fiber to the first that waits.
    fn leave(&self) {
        let mut next = {
            let mut places = self.places.lock();
            places.active -= 1;
            places.activate_first(self.most)
        };
        let mut has_refused = false;
        while let Some(fiber) = next {
            match self.let_through(fiber) {
                Ok(()) if !has_refused => return,
                Ok(()) => {}
                Err(fiber) => {
                    has_refused = true;
                    self.places.lock().refusing += 1;
                    // It leaves meanwhile.
                    entry::refuse(fiber);
                    self.places.lock().refusing -= 1;
                }
            }
            next = self.places.lock().activate_first(self.most);
        }
    }
}

impl Places {
    /// Takes the first fiber that waits, and counts it as active, if one more may be.
    fn activate_first(&mut self, most: usize) -> Option<FiberPtr> {
        if self.active >= most || self.refusing > 0 {
            return None;
        }
        let first = self.waiting.pop_front();
        self.active += usize::from(first.is_some());
        first
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
