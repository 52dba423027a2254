//! The line of a limited dispatcher: at most so many of its fibers at a time, the others wait
//! their turn, first come, first served.
//!
//! A fiber takes its turn when it is given to the pool and has it until it ends. What waits
//! here has been counted in by the pool already (`place::admit`), so the pool does not come to
//! its end over it.
//!
//! A line may stand before another one: then a fiber that has its turn here goes on to wait
//! there, and gives up both at its end.
//!
//! Invariants:
//! * LN1. `active` counts those that have been let through and whose [`Turn`] has not been
//!   dropped. While fewer than `most` are active, none waits.

use std::cell::RefCell;
use std::sync::Arc;

use crate::base::list::Fifo;
use crate::fiber::{FiberLocal, FiberPtr, Header, current};
use crate::sched::place;
use crate::sched::pool::Pool;
use crate::shim::Lock;

/// Where the fibers of one limited dispatcher wait for their turn.
pub(super) struct Line {
    places: Lock<Places>,
    most: usize,
    pool: Arc<Pool>,
    /// The line that comes next.
    further: Option<Arc<Line>>,
}

struct Places {
    active: usize,
    waiting: Fifo<Header>,
}

/// The right of one fiber to be active. It lies in the fiber's closure, then in the fiber.
pub(super) struct Turn(Arc<Line>);

/// The turn that the running fiber has. It goes last: nothing of the fiber's runs after that.
static TURN: FiberLocal<RefCell<Option<Turn>>> =
    FiberLocal::lasting(|| RefCell::new(None));

impl Line {
    pub(super) fn new(most: usize, pool: Arc<Pool>, further: Option<Arc<Line>>) -> Line {
        let places = Places {
            active: 0,
            waiting: Fifo::new(),
        };
        Line {
            places: Lock::new(places),
            most,
            pool,
            further,
        }
    }

    /// Takes an admitted fiber whose closure holds a [`Turn`] of this line.
    pub(super) fn submit(&self, fiber: FiberPtr) {
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

    /// Counts a fiber in that will not run, so that its [`Turn`] can be dropped.
    pub(super) fn submit_none(&self) {
        self.places.lock().active += 1;
        if let Some(further) = &self.further {
            further.submit_none();
        }
    }

    /// Whether the running fiber has its turn in this line.
    pub(super) fn is_current(&self) -> bool {
        let own =
            TURN.with(|turn| turn.borrow().as_ref().map(|Turn(line)| Arc::clone(line)));
        let mut next = own.as_deref();
        while let Some(line) = next {
            if std::ptr::eq(line, self) {
                return true;
            }
            next = line.further.as_deref();
        }
        false
    }

    fn let_through(&self, fiber: FiberPtr) {
        match &self.further {
            Some(further) => further.submit(fiber),
            None => place::queue(&self.pool, current::local(), fiber),
        }
    }

    /// One of the active has ended; the first of those who wait has its turn.
    fn leave(&self) {
        let next = {
            let mut places = self.places.lock();
            // More than there may be, if one was counted in that does not run: it gives way
            // to nobody.
            let next = match places.active > self.most {
                true => None,
                false => places.waiting.pop_front(),
            };
            places.active -= usize::from(next.is_none());
            next
        };
        if let Some(fiber) = next {
            self.let_through(fiber);
        }
    }
}

impl Turn {
    pub(super) fn new(line: &Arc<Line>) -> Turn {
        Turn(Arc::clone(line))
    }

    /// Has the running fiber keep its turn to its end.
    pub(super) fn keep(self) {
        TURN.with(|turn| turn.replace(Some(self)));
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = Some(&self.0);
        while let Some(left) = line {
            left.leave();
            line = left.further.as_ref();
        }
    }
}
