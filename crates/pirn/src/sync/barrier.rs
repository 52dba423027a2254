//! The barrier: a number of parties wait for each other, round after round.
//!
//! Owns: the count of arrivals and the waiters.
//!
//! # Invariants
//! * BR1. `arrived` is the number of waiting parties of this round, less than `parties`.
//! * BR2. The party that completes a round ends it under the lock, and then wakes the waiters of
//!   that round. A waiter remembers its round, so the next one can begin while they are being
//!   woken.

use std::fmt;

use crate::base::choice::Operation;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, Nameable, ObjectKind};
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Attempt, Reason, Spec, Waited, consume_budget, wait_in, wake_all};

/// A point where a fixed number of fibers or threads wait for each other.
///
/// # Examples
/// ```
/// use pirn::sync::Barrier;
///
/// let start = Barrier::new(3);
/// pirn::scope(|s| {
///     for _ in 0..3 {
///         s.spawn(|| {
///             // … prepare …
///             if start.wait().is_leader() {
///                 println!("all three are ready");
///             }
///         });
///     }
/// });
/// ```
pub struct Barrier {
    parties: usize,
    state: Lock<State>,
}

struct State {
    arrived: usize,
    /// The number of completed rounds.
    rounds: u64,
    /// Waiters, each with the number of its round.
    waiters: WaitQueue<u64>,
}

/// The result of a completed round of a [`Barrier`] for one party.
///
/// # Examples
/// ```
/// use pirn::sync::{Barrier, BarrierWaitResult};
///
/// let alone = Barrier::new(1);
/// let result: BarrierWaitResult = alone.wait();
/// assert!(result.is_leader());
/// ```
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns true for exactly one party of each round.
    ///
    /// # Examples
    /// ```
    /// let barrier = pirn::sync::Barrier::new(2);
    /// pirn::scope(|s| {
    ///     let other = s.spawn(|| barrier.wait().is_leader());
    ///     let own = barrier.wait().is_leader();
    ///     assert_ne!(own, other.join().unwrap());
    /// });
    /// ```
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Nameable for Barrier {
    fn known_at(&self) -> usize {
        (&raw const self.state).addr()
    }
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Barrier {
            arrived: self.arrived,
        }
    }
}

impl Barrier {
    /// Returns a barrier for `n` parties; 0 is treated as 1.
    ///
    /// # Examples
    /// ```
    /// use pirn::sync::Barrier;
    ///
    /// static ALONE: Barrier = Barrier::new(1);
    /// assert!(ALONE.wait().is_leader());
    /// ```
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Barrier {
            parties: n,
            state: Lock::new(State {
                arrived: 0,
                rounds: 0,
                waiters: WaitQueue::new(),
            }),
        }
    }

    /// Blocks until all parties have arrived. The last one to arrive is the leader. The barrier can
    /// be used at once for another round.
    ///
    /// # Cancellation
    /// Not an interruption point, because the other parties depend on this one. Parks a fiber,
    /// blocks a plain thread.
    ///
    /// # Blocking
    /// Indefinitely, if a party never arrives, for example because it has panicked.
    ///
    /// # Panics
    /// Inside the poll of a future on a fiber.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let (barrier, arrived) = (pirn::sync::Barrier::new(3), AtomicU32::new(0));
    /// pirn::scope(|s| {
    ///     for _ in 0..3 {
    ///         s.spawn(|| {
    ///             arrived.fetch_add(1, Ordering::Relaxed);
    ///             barrier.wait();
    ///             assert_eq!(arrived.load(Ordering::Relaxed), 3);
    ///         });
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        refuse_in_poll();
        consume_budget(Operation::Arrive, self.known_at());
        let waited = wait_in(
            &self.state,
            |state| &mut state.waiters,
            &Spec::of(Reason::Barrier),
            |state| {
                state.arrived += 1;
                if state.arrived < self.parties {
                    return Attempt::Wait(state.rounds);
                }
                state.arrived = 0;
                state.rounds += 1;
                Attempt::Done(state.rounds)
            },
        );
        match waited {
            Waited::Done(rounds) => {
                wake_all(&self.state, |state| {
                    state
                        .waiters
                        .claim_first_if(|round| *round < rounds, |_| ())
                });
                BarrierWaitResult(true)
            }
            Waited::Ended(..) => BarrierWaitResult(false),
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("parties", &self.parties)
            .finish_non_exhaustive()
    }
}
