//! Waiting for whichever of several things comes first: the engine of `select`.
//!
//! Owns: the order in which cases are tried, and the wait on all of them at once. Does not
//! own: what a case is (channels, joins, timers implement [`Case`]), or the macro.
//!
//! One round, until a case is complete:
//!
//! 1. *Active pass*: no ticket is out. Every case is tried, in random order unless biased.
//! 2. *Passive pass*: a ticket is taken and each case published with it, in its own queue
//!    under its own lock. There a case only looks whether it would be ready: with a ticket
//!    out, this party may itself be claimed at any moment, so it completes nobody.
//! 3. If some case was ready, the party claims its own ticket with the code `RETRY`. If that
//!    wins, everything is withdrawn and the round begins again; if it loses, somebody has
//!    completed a case already.
//! 4. Otherwise it parks. The code of the claim names the case that won; its waker has handed
//!    over through that case's waiter. Code `RETRY` (a waker that completes nothing): again.
//! 5. All cases are withdrawn before anything of the user's runs.
//!
//! A choice that must not wait does 1; if that finds nothing it does 2 and 3 in any case, so
//! that it looks at all of its cases at one moment and not at one after the other (`glance`).
//!
//! Only a party without a ticket out completes another party's case, so one claim decides each
//! meeting, and no two locks are ever held together.
//!
//! LIVENESS: no meeting is missed. Of two parties whose cases fit, the one that takes the lock
//! later sees the waiter of the other, in its active pass (and completes it) or in its
//! passive pass (and starts over, with its own cases withdrawn; then it finds the other's
//! waiter, or the other has gone on to something else). Two parties may see each other
//! in their passive passes and both withdraw, over several channels in opposite order. Each
//! publishes in a random order, and after a few rounds gives way (`ROUNDS`), so that they do
//! not stay in step.

#[expect(unsafe_code, reason = "the contract of a case")]
mod case;
mod engine;
#[expect(
    unsafe_code,
    reason = "publishes cases that it borrows, and withdraws them"
)]
mod published;
mod sequence;

pub(crate) use case::{Call, Case, Needs, Outcome};
pub(crate) use engine::{Choice, MOST, Order, choose, choose_now};
