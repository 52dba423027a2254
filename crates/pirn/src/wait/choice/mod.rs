//! Waiting for the first of several events: the engine of `select`.
//!
//! Owns: the order in which cases are tried, and the wait on all of them at once. Does not own: the
//! cases themselves (channels, joins, timers implement [`Case`]), or the macro.
//!
//! One round, until a case is complete:
//!
//! 1. *Active pass*: no ticket is published. Every case is tried, in random order unless biased.
//! 2. *Passive pass*: a ticket is taken and each case published with it, in its own queue under its
//!    own lock. There a case only checks whether it would be ready. With a published ticket, this
//!    party may itself be claimed at any moment, so it completes no other party.
//! 3. If some case was ready, the party claims its own ticket with the code `RETRY`. If that wins,
//!    everything is withdrawn and the round begins again. If it loses, another party has completed
//!    a case already.
//! 4. Otherwise it parks. The code of the claim names the case that won; its waker has handed over
//!    through that case's waiter. After code `RETRY` (a waker that completes nothing), the round
//!    begins again.
//! 5. All cases are withdrawn before any user code runs.
//!
//! A choice that must not wait does 1. If that finds nothing it always does 2 and 3, so that it
//! checks all of its cases at one moment and not one after the other (`glance`).
//!
//! Only a party without a published ticket completes another party's case, so one claim decides
//! each meeting, and no two locks are ever held together.
//!
//! LIVENESS: no meeting is missed. Of two parties with matching cases, the one that takes the lock
//! later sees the waiter of the other. In its active pass, it completes that waiter. In its passive
//! pass, it starts over, with its own cases withdrawn. Then it finds the other's waiter again, or
//! the other has moved on. Two parties may see each other in their passive passes and both
//! withdraw, over several channels in opposite order. Each publishes in a random order, and yields
//! after a few rounds (`ROUNDS`), so that they do not stay in step.

mod case;
mod engine;
#[expect(
    unsafe_code,
    reason = "publishes cases that it borrows, and withdraws them"
)]
mod published;
mod sequence;

pub(crate) use case::{Call, Case, Needs, Outcome};
pub(crate) use engine::{Choice, MOST, choose, choose_now};
pub(crate) use sequence::Order;
