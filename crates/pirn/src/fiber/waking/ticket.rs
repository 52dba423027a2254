//! Tickets: one-shot rights to wake a fiber (or a plain thread that waits like one).

use std::hash::{Hash, Hasher};

use crate::base::mutant::mutant;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::state::{Claim, Code, Epoch};

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
/// #     fn register(&self, ticket: Ticket) -> bool {
/// #         let mut gate = self.0.lock().unwrap();
/// #         if !gate.0 {
/// #             gate.1.push(ticket);
/// #         }
/// #         !gate.0
/// #     }
/// #     fn unregister(&self, ticket: Ticket) {
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
        match self.fiber.state.claim(self.epoch, code) {
            Claim::Parked => Some(Wake(Some(self.fiber))),
            Claim::Active if mutant!("enqueue_unparked") => Some(Wake(Some(self.fiber))),
            Claim::Active => Some(Wake(None)),
            Claim::Stale => None,
        }
    }
}

impl Wake {
    /// Returns the duty left by a token or a cancellation that ended a parked wait.
    pub(crate) fn of(fiber: FiberPtr) -> Wake {
        Wake(Some(fiber))
    }

    /// Returns the address of the fiber that was parked; 0 for none.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.0.map_or(0, |fiber| fiber.as_ptr().addr())
    }

    /// Returns the fiber that was parked, for a later enqueue.
    pub(crate) fn into_fiber(self) -> Option<FiberPtr> {
        self.0
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
