//! Tickets: one-shot rights to wake a fiber (or a plain thread that waits like one).

use std::hash::{Hash, Hasher};

use super::header::FiberPtr;
use super::state::{Claim, Code, Epoch};
use super::state_names::State;
use crate::base::mutant::mutant;

/// The right to end one wait of one fiber, once.
///
/// Copies are equal: the first one used wins, and the others have no effect at any later time. A
/// ticket can be kept and used anywhere, also after its fiber has ended.
///
/// # Examples
/// A gate notes the tickets of its waiters, and uses them when it opens.
/// [`Waitable`](crate::wait::Waitable) has the rest of it.
/// ```
/// # use std::sync::Mutex;
/// # use pirn::wait::{Ticket, Waitable};
/// #[derive(Default)]
/// struct Gate(Mutex<(bool, Vec<Ticket>)>);
///
/// impl Gate {
///     fn open(&self) {
///         let mut gate = self.0.lock().unwrap();
///         gate.0 = true;
///         gate.1.drain(..).for_each(|ticket| _ = ticket.wake());
///     }
/// }
/// # impl Waitable for Gate {
/// #     type Output = ();
/// #     fn try_complete(&self) -> Option<()> {
/// #         self.0.lock().unwrap().0.then_some(())
/// #     }
/// #     fn publish(&self, ticket: Ticket) -> bool {
/// #         let mut gate = self.0.lock().unwrap();
/// #         if !gate.0 {
/// #             gate.1.push(ticket);
/// #         }
/// #         !gate.0
/// #     }
/// #     fn unpublish(&self, ticket: Ticket) {
/// #         self.0.lock().unwrap().1.retain(|other| *other != ticket);
/// #     }
/// # }
/// let gate = Gate::default();
/// pirn::scope(|s| {
///     s.spawn(|| assert_eq!(pirn::wait::on(&gate), Ok(())));
///     gate.open();
/// });
/// ```
// Headers are never returned to the system and every wait has an epoch of its own (ST1, ST2 in
// `fiber::state`).
#[doc(alias = "Waker")]
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct Ticket {
    fiber: FiberPtr,
    epoch: Epoch,
}

// SAFETY: H1 (`fiber::header`): headers are type-stable and never freed, and a ticket accesses only
// the atomic state word of a header until it has won the claim.
unsafe impl Send for Ticket {}
// SAFETY: as above; a ticket has no interior state.
unsafe impl Sync for Ticket {}

/// The duty to enqueue a fiber after its wait has been claimed while it was parked.
///
/// Separate from the claim because a waker claims and transfers under the lock of the object that
/// is waited for, and enqueues after releasing that lock.
#[must_use = "a claimed fiber that is not enqueued sleeps indefinitely"]
#[derive(Debug)]
pub(crate) struct Wake(Option<FiberPtr>);

// SAFETY: H1, H3: the claim made this the only party that may enqueue the fiber.
unsafe impl Send for Wake {}

impl Ticket {
    pub(crate) fn new(fiber: FiberPtr, epoch: Epoch) -> Self {
        Ticket { fiber, epoch }
    }

    pub(crate) fn epoch(self) -> Epoch {
        self.epoch
    }

    pub(crate) fn fiber(self) -> FiberPtr {
        self.fiber
    }

    /// Tries to end the wait with `code`; `None` if it was over already.
    #[inline]
    pub(crate) fn claim(self, code: Code) -> Option<Wake> {
        let header = self.fiber.header();
        match header.state.claim(self.epoch, code) {
            Claim::Parked => Some(Wake(Some(self.fiber))),
            Claim::Active if mutant!("enqueue_unparked") => Some(Wake(Some(self.fiber))),
            Claim::Active => Some(Wake(None)),
            Claim::Stale => None,
        }
    }

    /// Ends the wait of this ticket and makes its fiber ready.
    ///
    /// Returns false, and does nothing, if that wait has already ended, for any reason. Works from
    /// any thread, never blocks.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use pirn::wait::{Ticket, Waitable, on};
    ///
    /// /// Completes with the ticket of its waiter.
    /// struct Kept(Mutex<Option<Ticket>>);
    ///
    /// impl Waitable for Kept {
    ///     type Output = Ticket;
    ///
    ///     fn try_complete(&self) -> Option<Ticket> {
    ///         *self.0.lock().unwrap()
    ///     }
    ///
    ///     fn publish(&self, ticket: Ticket) -> bool {
    ///         *self.0.lock().unwrap() = Some(ticket);
    ///         false
    ///     }
    ///
    ///     fn unpublish(&self, _: Ticket) {}
    /// }
    ///
    /// let ticket = on(&Kept(Mutex::new(None))).unwrap();
    /// assert!(!ticket.wake(), "the wait is over");
    /// ```
    pub fn wake(self) -> bool {
        self.wake_with(Code::RETRY)
    }

    /// As [`wake`](Ticket::wake), with a code that the waiting fiber reads.
    #[inline]
    pub(crate) fn wake_with(self, code: Code) -> bool {
        match self.claim(code) {
            Some(wake) => {
                wake.enqueue();
                true
            }
            None => false,
        }
    }
}

impl Wake {
    /// Returns the duty left by a token or a cancellation that ended a parked wait.
    pub(crate) fn of(fiber: FiberPtr) -> Wake {
        Wake(Some(fiber))
    }

    /// Returns the fiber that was parked, for a later enqueue.
    pub(crate) fn into_fiber(self) -> Option<FiberPtr> {
        self.0
    }

    /// Hands the fiber to its scheduler, or wakes the plain thread that waits.
    #[inline]
    pub(crate) fn enqueue(self) {
        if let Some(fiber) = self.0 {
            // H3: the claim ordered `home` before this read.
            let header = fiber.header();
            header.life.step(State::Runnable);
            header.home().schedule(fiber);
        }
    }
}

impl Hash for Ticket {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fiber.hash(state);
        self.epoch.hash(state);
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}
