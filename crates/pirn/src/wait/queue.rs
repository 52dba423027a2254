//! Waiting in a queue: the protocol of nearly all primitives, as one safe function.
//!
//! A primitive keeps its state and its wait queues in one [`Lock`]. [`wait_in`] tries the
//! primitive's operation under the lock. If it cannot be done now, it joins one of the queues in
//! the same critical section, frees the lock, parks, and unlinks the waiter. The waiter never
//! leaves this function's frame, which makes the whole of it safe (W2).

use std::ptr::NonNull;

use super::object::Describe;
use super::park::{park_on, ticket_to_park};
use super::polling;
use super::spec::{End, How, Spec};
use super::wait_info::Subject;
use super::yielding::consume_budget;
use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::fiber::current;
use crate::fiber::state::Code;
use crate::fiber::waiter::{WaitQueue, Waiter};
use crate::shim::{Lock, LockGuard};

/// The result of a primitive's attempt under its lock.
pub(crate) enum Attempt<R, P> {
    /// Done; no wait is needed.
    Done(R),
    /// Not now: wait, and let a waker hand over through this payload.
    Wait(P),
}

/// The result of [`wait_in`].
pub(crate) enum Waited<R, P> {
    /// The attempt succeeded at once.
    Done(R),
    /// The wait ended in this way; the payload is returned.
    Ended(How, P),
}

/// Like [`wait_held`], for a caller that does not hold the lock yet and has nothing to do before
/// the wait.
#[inline]
#[track_caller]
pub(crate) fn wait_in<S: Describe, P, R>(
    lock: &Lock<S>,
    queue: impl Fn(&mut S) -> &mut WaitQueue<P>,
    spec: &Spec,
    attempt: impl FnOnce(&mut S) -> Attempt<R, P>,
) -> Waited<R, P> {
    let subject = Subject::of(lock);
    wait_held(subject, lock, lock.lock(), queue, spec, attempt, || ())
}

/// Like [`wait_in`], for an object that is larger than the data under its lock.
#[inline]
#[track_caller]
pub(crate) fn wait_for<S, P, R>(
    subject: Subject<'_>,
    lock: &Lock<S>,
    queue: impl Fn(&mut S) -> &mut WaitQueue<P>,
    spec: &Spec,
    attempt: impl FnOnce(&mut S) -> Attempt<R, P>,
) -> Waited<R, P> {
    wait_held(subject, lock, lock.lock(), queue, spec, attempt, || ())
}

/// Tries `attempt` under `lock`, which the caller holds by `state`. If it has to wait, waits in
/// `queue` by `spec`; reports show `subject`.
///
/// A waker that claims the waiter under the lock (`WaitQueue::claim_first`) may hand over through
/// the payload. The payload is returned however the wait ended. `joined` is called when the waiter
/// is visible to others and the lock is free again; it must not unwind.
///
/// # Panics
/// If it would have to wait inside a poll (`polling`). Changes made by `attempt` remain: a
/// primitive for which that matters checks before it calls this.
#[inline]
#[track_caller]
pub(crate) fn wait_held<S, P, R>(
    subject: Subject<'_>,
    lock: &Lock<S>,
    state: LockGuard<'_, S>,
    queue: impl Fn(&mut S) -> &mut WaitQueue<P>,
    spec: &Spec,
    attempt: impl FnOnce(&mut S) -> Attempt<R, P>,
    joined: impl FnOnce(),
) -> Waited<R, P> {
    let mut state = state;
    let payload = match attempt(&mut state) {
        Attempt::Done(result) => return Waited::Done(result),
        Attempt::Wait(payload) => payload,
    };
    let local = current::local();
    let Some(ticket) = ticket_to_park(local) else {
        // UNWIND: no waiter has joined, and the lock is free when the payload is dropped.
        drop(state);
        polling::refuse()
    };
    let waiter = Waiter::new(ticket, Code::case(0), payload);
    let place = NonNull::from(&waiter);
    // SAFETY: the lock is held; W2: taken out below, before this frame ends, and nothing in
    // between unwinds.
    unsafe { queue(&mut state).push(place) };
    drop(state);
    joined();
    let End { how, early } = park_on(local, ticket, spec, Some(subject));
    let early = early && !mutant!("early_claim_skips_lock");
    if early || !matches!(how, How::Woken(_)) {
        // A waker may still hold the lock and our payload (W3), or we are still linked.
        let mut state = lock.lock();
        // SAFETY: the lock is held; the waiter was pushed to this queue.
        unsafe { queue(&mut state).remove(place) };
        drop(state);
        if early && matches!(how, How::Interrupted(_)) {
            // Refused without having parked: a loop that ignores the interrupt must yield too.
            consume_budget(Operation::Check, 0);
        }
    }
    Waited::Ended(how, waiter.into_payload())
}
