//! Sending into a channel: at once, waiting, by force, or in batches.

use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Instant;

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::shared::Shared;
use super::state::{Brought, Deferred, Offer, Side, State};
use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::shim::LockGuard;
use crate::wait::wait_info::Subject;
use crate::wait::{
    Attempt, How, Reason, Spec, Waited, begin, may_spin, spin_before_park, wait_held,
};

impl<T> Shared<T> {
    /// Tries once to send `value`.
    #[inline]
    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut state = self.state.lock();
        if !state.has_room() {
            self.refresh_batch_len(&mut state);
        }
        let offer = state.offer(value);
        self.publish_len(&state);
        drop(state);
        match offer {
            Offer::Taken(after) => self.run_deferred(after),
            Offer::Full(value) => return Err(TrySendError::Full(value)),
            Offer::Closed(value) => return Err(TrySendError::Disconnected(value)),
        }
        Ok(())
    }

    /// Sends `value`, waiting until `deadline` for room or for a receiver.
    #[inline]
    #[track_caller]
    pub(super) fn send(
        &self,
        value: T,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<T>> {
        if let Err(interrupt) = begin(Operation::Send, (&raw const self.state).addr()) {
            return Err(SendTimeoutError::Interrupted(value, interrupt));
        }
        let mut state = self.state.lock();
        if state.can_push() {
            state.buffer.push(value);
            self.publish_len(&state);
            return Ok(());
        }
        self.send_held(state, value, deadline)
    }

    /// Continues a send that is not a plain push.
    #[inline(never)]
    #[track_caller]
    fn send_held(
        &self,
        state: LockGuard<'_, State<T>>,
        value: T,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<T>> {
        let mut state = state;
        if state.may_fill() {
            self.refresh_batch_len(&mut state);
            if !state.has_room() && may_spin() {
                drop(state);
                spin_before_park(|| self.looks_roomy() || self.is_closed());
                state = self.state.lock();
                self.refresh_batch_len(&mut state);
            }
            if state.can_push() {
                state.buffer.push(value);
                self.publish_len(&state);
                return Ok(());
            }
        }
        let attempt = |state: &mut State<T>| match state.offer(value) {
            Offer::Taken(after) => Attempt::Done(Ok(after)),
            Offer::Closed(value) => Attempt::Done(Err(value)),
            Offer::Full(value) => Attempt::Wait(Brought::Value(value)),
        };
        match self.wait_to_send(state, deadline, attempt) {
            Waited::Done(Ok(after)) => self.run_deferred(after),
            Waited::Done(Err(value)) => {
                return Err(SendTimeoutError::Disconnected(value));
            }
            // CH2: the party that took the value claimed this wait, whichever way the wait appears
            // to have ended.
            Waited::Ended(_, Brought::Done | Brought::Request) => {}
            Waited::Ended(how, Brought::Value(value)) => {
                return Err(match how {
                    How::TimedOut => SendTimeoutError::Timeout(value),
                    How::Interrupted(interrupt) => {
                        SendTimeoutError::Interrupted(value, interrupt)
                    }
                    How::Woken(_) | How::Token => SendTimeoutError::Disconnected(value),
                });
            }
        }
        Ok(())
    }

    /// Reserves a place for a value that [`store_reserved`](Self::store_reserved) stores later.
    #[track_caller]
    pub(super) fn reserve(&self) -> Result<(), SendError<()>> {
        if let Err(interrupt) = begin(Operation::Send, (&raw const self.state).addr()) {
            return Err(SendError::Interrupted((), interrupt));
        }
        let waited = self.wait_to_send(self.state.lock(), None, |state| {
            if state.closed {
                Attempt::Done(Err(()))
            } else if state.has_room() {
                state.reserved += 1;
                Attempt::Done(Ok(Deferred::default()))
            } else {
                Attempt::Wait(Brought::Request)
            }
        });
        match waited {
            Waited::Done(Ok(_)) | Waited::Ended(_, Brought::Done) => Ok(()),
            Waited::Done(Err(())) => Err(SendError::Disconnected(())),
            Waited::Ended(How::Interrupted(interrupt), _) => {
                Err(SendError::Interrupted((), interrupt))
            }
            Waited::Ended(..) => Err(SendError::Disconnected(())),
        }
    }

    /// Stores the value of a reserved place.
    pub(super) fn store_reserved(&self, value: T) {
        let mut state = self.state.lock();
        let placed = state.store_reserved(value);
        self.publish_len(&state);
        let ended = state.has_ended();
        drop(state);
        // A value that no receiver can take is dropped here.
        if let Ok(afters) = placed {
            afters
                .into_iter()
                .for_each(|after| self.run_deferred(after));
        }
        if ended {
            self.wake_all_parties();
        }
    }

    /// Sends `value` without waiting; if the buffer is full, returns the oldest value, which it
    /// evicts.
    pub(super) fn force_send(&self, value: T) -> Result<Option<T>, SendError<T>> {
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
        let mut displaced = None;
        let offer = match state.offer(value) {
            Offer::Full(value) => {
                // With capacity 0 the buffer has only values that dropped receives returned.
                let oldest = match self.capacity {
                    0 => None,
                    _ => state.buffer.pop(),
                };
                displaced = Some(match oldest {
                    Some(oldest) => {
                        state.buffer.push(value);
                        oldest
                    }
                    None => value,
                });
                Offer::Taken(Deferred::default())
            }
            offer => offer,
        };
        self.publish_len(&state);
        drop(state);
        match offer {
            Offer::Taken(after) => self.run_deferred(after),
            Offer::Full(value) | Offer::Closed(value) => {
                return Err(SendError::Disconnected(value));
            }
        }
        Ok(displaced)
    }

    /// Sends all of `values`, in order, waiting as often as necessary. Values that have not been
    /// sent remain in `values`.
    #[track_caller]
    pub(super) fn send_many(
        &self,
        values: &mut VecDeque<T>,
    ) -> Result<(), SendError<()>> {
        if values.is_empty() {
            return begin(Operation::Send, (&raw const self.state).addr())
                .map_err(|interrupt| SendError::Interrupted((), interrupt));
        }
        while let Some(value) = values.pop_front() {
            if let Err(error) = self.send(value, None) {
                let reason = error.reason().unlimited();
                values.push_front(error.into_inner());
                return Err(reason);
            }
            self.send_ready(values);
        }
        Ok(())
    }

    /// Sends a batch of values that fit, under one lock.
    fn send_ready(&self, values: &mut VecDeque<T>) {
        let mut wakes: [Option<Deferred>; BATCH] = [const { None }; BATCH];
        let mut state = self.state.lock();
        self.refresh_batch_len(&mut state);
        for place in &mut wakes {
            let Some(value) = values.pop_front() else {
                break;
            };
            match state.offer(value) {
                Offer::Taken(after) => *place = Some(after),
                Offer::Full(value) | Offer::Closed(value) => {
                    values.push_front(value);
                    break;
                }
            }
        }
        self.publish_len(&state);
        drop(state);
        wakes
            .into_iter()
            .flatten()
            .for_each(|after| self.run_deferred(after));
    }

    /// Waits among the senders, and notifies watchers of the send side.
    #[inline]
    #[track_caller]
    fn wait_to_send<R>(
        &self,
        state: LockGuard<'_, State<T>>,
        deadline: Option<Instant>,
        attempt: impl FnOnce(&mut State<T>) -> Attempt<R, Brought<T>>,
    ) -> Waited<R, Brought<T>> {
        let spec = Spec::interruptible(Reason::Send).until(deadline);
        let watched = Cell::new(false);
        wait_held(
            Subject::of(&self.state),
            &self.state,
            state,
            |state| &mut state.sending,
            &spec,
            |state| {
                if !mutant!("sender_waits_beside_exit") {
                    self.reclaim_batch(state);
                }
                let attempt = attempt(state);
                let comes = matches!(attempt, Attempt::Wait(Brought::Value(_)));
                watched.set(comes && state.is_watched(Side::Receive));
                self.publish_len(state);
                attempt
            },
            || {
                if watched.get() {
                    self.notify_watchers(Side::Receive);
                }
            },
        )
    }
}

/// The most values moved under one lock. At about 10 ns each that is well below the microsecond
/// after which spinning waiters yield their processor. Estimated, not measured.
pub(super) const BATCH: usize = 32;
