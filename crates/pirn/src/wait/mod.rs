//! Waiting in user-made primitives.
//!
//! [`park_on`] waits on a number until [`unpark_one`] or [`unpark_all`]. [`on`] waits for a
//! [`Waitable`], which wakes its waiters through [`Ticket`]s; [`case`] makes it a case of a select.
//! [`Interrupt`] is the reason why an interruptible call returns early. [`Reason`] is the reason of
//! a wait in reports.
//!
//! # Examples
//! A gate of one byte:
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use pirn::wait::{park_on, unpark_all};
//!
//! static OPEN: AtomicBool = AtomicBool::new(false);
//! let key = &raw const OPEN as usize;
//! pirn::scope(|s| {
//!     let fiber = s.spawn(|| {
//!         while !OPEN.load(Ordering::Acquire) {
//!             park_on(key, || !OPEN.load(Ordering::Acquire))?;
//!         }
//!         Ok::<(), pirn::Interrupt>(())
//!     });
//!     OPEN.store(true, Ordering::Release);
//!     unpark_all(key);
//!     assert_eq!(fiber.join().unwrap(), Ok(()));
//! });
//! ```

// The one module that suspends fibers and puts threads to sleep.
//
// The life of a blocking call: a primitive checks `deadline::interrupted`, tries its fast path, and
// otherwise calls `queue::wait_in` with the lock that guards its state. Under that lock the
// attempt is made once more. If it fails, a waiter on the caller's own stack joins the primitive's
// queue. The lock is freed and the caller parks: one compare-and-swap of its state word, then the
// switch. A waker takes the lock, claims the first waiter that still waits
// (`WaitQueue::claim_first`), and hands over in the same critical section. It frees the lock and
// only then enqueues the `Wake` it was given. The caller returns with `Woken`, `TimedOut`,
// `Interrupted` or `Token`, and its waiter is unlinked. A plain OS thread takes the same path and
// sleeps on a futex instead.
//
// Lock order: a primitive's lock, then nothing; channels and sources are the two exceptions
// (ARCHITECTURE.md). No runtime lock is held across a switch.
//
// Invariants: W1–W3 (`fiber::waking::waiter`), ST1–ST4 (`fiber::state`).

pub(crate) mod case_output;
pub(crate) mod choice;
pub(crate) mod clock;
pub(crate) mod deadline;
pub(crate) mod interrupt;
mod parking;
mod poll;
#[expect(unsafe_code, reason = "links a waiter that lives in a case")]
pub(crate) mod waiter_slot;
// Needs a table in static memory, where a model's words cannot be.
#[cfg(not(pirn_parts))]
mod keyed;
pub(crate) mod object;
#[expect(unsafe_code, reason = "links a waiter that lives in its own frame")]
pub(crate) mod queue;
pub(crate) mod reason;
mod wait_case;
#[expect(unsafe_code, reason = "a notice lies in the frame that waits")]
pub(crate) mod wait_info;
pub(crate) mod waitable;

pub(crate) use crate::fiber::release::wake_all;
pub(crate) use clock::{deadline_in, now};
pub(crate) use deadline::{begin, interrupted, interrupted_meanwhile};
pub(crate) use parking::{lend, may_spin, spin_before_park};
pub(crate) use parking::{park, spec, yielding};
pub(crate) use poll::{awaiting, poll_timers, poll_waker, polling};
pub(crate) use queue::{Attempt, Waited, wait_for, wait_held, wait_in};
pub(crate) use spec::{How, Spec};
pub(crate) use yielding::{consume_budget, point, yield_if_slow, yield_now};

pub use crate::fiber::Ticket;
pub use interrupt::Interrupt;
#[cfg(not(pirn_parts))]
pub use keyed::{park_on, unpark_all, unpark_one};
pub use reason::Reason;
pub use wait_case::{WaitCase, case};
pub use waitable::{Waitable, on};

#[cfg(test)]
pub(crate) mod tests;
