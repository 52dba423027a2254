//! The end of a fiber as a case of a select.

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::fiber::Fiber;
use crate::fiber::stackless::StackOwner;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that wins when a fiber has ended; made by
    /// [`JoinHandle::join_case`](crate::JoinHandle::join_case) and the same methods of other
    /// handles. Joining the fiber then does not wait.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let fibers = [pirn::spawn(|| pirn::park()), pirn::spawn(|| ())];
    /// let mut cases: Vec<_> = fibers.iter().map(|fiber| fiber.join_case()).collect();
    /// let mut select = Select::new();
    /// for case in &mut cases {
    ///     select.add(case);
    /// }
    /// assert_eq!(select.wait(), Ok(1)); // the other fiber is parked
    /// fibers[0].fiber().unpark();
    /// ```
    pub struct JoinCase<'a> {
        #[pin]
        case: EndCase<&'a Fiber>,
    }
}

pin_project! {
    /// Wins when the fiber has ended.
    pub(crate) struct EndCase<F> {
        fiber: F,
        #[pin]
        slot: WaiterSlot<StackOwner>,
    }
}

impl<'a> JoinCase<'a> {
    pub(crate) fn new(fiber: &'a Fiber) -> Self {
        JoinCase {
            case: EndCase::new(fiber),
        }
    }

    /// Does nothing: the handle takes the outcome.
    pub fn take(&mut self) {}
}

impl Case for JoinCase<'_> {
    fn attempt(&self) -> bool {
        self.case.attempt()
    }

    fn subject(&self) -> Option<Subject<'_>> {
        self.case.subject()
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.project_ref().case.publish(call)
    }

    fn withdraw(self: Pin<&Self>, call: Call, outcome: Outcome) {
        self.project_ref().case.withdraw(call, outcome);
    }
}

impl<F> EndCase<F> {
    pub(crate) fn new(fiber: F) -> Self {
        EndCase {
            fiber,
            slot: WaiterSlot::new(),
        }
    }
}

impl<F: Borrow<Fiber>> Case for EndCase<F> {
    fn attempt(&self) -> bool {
        self.fiber.borrow().header().join.lock().done
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(Subject::end_of(self.fiber.borrow().ptr()))
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut join = self.fiber.borrow().header().join.lock();
        if !join.done {
            let (queue, payload) = (&mut join.waiters, StackOwner::Other);
            self.project_ref()
                .slot
                .link(queue, call.ticket, call.code, payload);
        }
        !join.done
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        let mut join = self.fiber.borrow().header().join.lock();
        self.project_ref().slot.unlink(&mut join.waiters);
    }
}

impl fmt::Debug for JoinCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinCase").finish_non_exhaustive()
    }
}
