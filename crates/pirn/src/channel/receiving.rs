//! Receiving from a channel: at once, waiting, or in batches.

use std::cell::Cell;
use std::time::Instant;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::sending::BATCH;
use super::shared::Shared;
use super::state::{Deferred, Dry, Side, State};
use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::shim::LockGuard;
use crate::wait::wait_info::Subject;
use crate::wait::{
    self, Attempt, How, Reason, Spec, Waited, begin, may_spin, spin_before_park,
    wait_held, yield_if_slow,
};

impl<T> Shared<T> {
    #[inline]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        if self.exit.is_used()
            && let Some(value) = self.exit.pop()
        {
            return Ok(value);
        }
        let mut state = self.state.lock();
        if state.crowded == 0
            && state.can_pop()
            && let Some(value) = state.buffer.pop()
        {
            self.publish_len(&state);
            return Ok(value);
        }
        self.try_recv_held(state)
    }

    /// Continues an attempt that is not a plain pop.
    #[inline(never)]
    fn try_recv_held(&self, state: LockGuard<'_, State<T>>) -> Result<T, TryRecvError> {
        let mut state = state;
        self.reclaim_batch(&mut state);
        self.count_crowd(&mut state, false);
        let taken = state.take();
        self.publish_len(&state);
        drop(state);
        match taken {
            Ok((value, after)) => {
                self.run_deferred(after);
                Ok(value)
            }
            Err(Dry::Empty) if self.clock.is_none() => Err(TryRecvError::Empty),
            Err(Dry::Empty) => self.by_clock(wait::now()).ok_or(TryRecvError::Empty),
            Err(Dry::Ended) => Err(TryRecvError::Disconnected),
        }
    }

    /// Receives a value, waiting for one until `deadline`.
    #[inline]
    #[track_caller]
    pub(super) fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        if let Err(interrupt) = begin(Operation::Receive, (&raw const self.state).addr())
        {
            return Err(RecvTimeoutError::Interrupted(interrupt));
        }
        match self.just_take(true) {
            Ok(value) => Ok(value),
            Err(state) => self.recv_held(state, deadline),
        }
    }

    /// Takes a value if a plain pop suffices; otherwise returns the lock guard. If `gather` is
    /// true, a plain thread may let values accumulate first.
    #[inline]
    fn just_take(&self, gather: bool) -> Result<T, LockGuard<'_, State<T>>> {
        if self.exit.is_used() {
            if let Some(value) = self.exit.pop() {
                return Ok(value);
            }
            if gather && may_spin() {
                self.exit.spin_for_batch();
            }
        }
        let (mut state, contended) = self.state.lock_reporting_contention();
        if contended || state.crowded > 0 {
            return self.just_take_crowded(state, contended);
        }
        if state.can_pop()
            && let Some(value) = state.buffer.pop()
        {
            self.publish_len(&state);
            return Ok(value);
        }
        Err(state)
    }

    /// As `just_take` where threads contend: the remaining values move to the exit.
    #[cold]
    fn just_take_crowded<'a>(
        &'a self,
        state: LockGuard<'a, State<T>>,
        contended: bool,
    ) -> Result<T, LockGuard<'a, State<T>>> {
        let mut state = state;
        self.refresh_batch_len(&mut state);
        if state.ahead > 0 {
            return Err(state);
        }
        self.count_crowd(&mut state, contended);
        if !state.can_pop() {
            return Err(state);
        }
        let Some(value) = state.buffer.pop() else {
            return Err(state);
        };
        if state.crowded > 0 && state.buffer.len() > 0 {
            state.buffer.split_front(|row| self.exit.fill(row));
            self.refresh_batch_len(&mut state);
        }
        self.publish_len(&state);
        Ok(value)
    }

    /// Records in `state` that a receiver came, and whether it contended with another. The lock is
    /// held, and the exit is empty.
    fn count_crowd(&self, state: &mut State<T>, contended: bool) {
        if contended {
            state.crowded = CROWDED;
        } else if state.crowded > 0 {
            state.crowded -= 1;
            if state.crowded == 0 {
                self.exit.disable();
            }
        }
    }

    /// Continues a receive that is not a plain pop.
    #[inline(never)]
    #[track_caller]
    fn recv_held(
        &self,
        state: LockGuard<'_, State<T>>,
        deadline: Option<Instant>,
    ) -> Result<T, RecvTimeoutError> {
        let mut state = state;
        if !state.sending.is_empty()
            && state.buffer.len() == 0
            && let Ok((value, after)) = state.take_parked()
        {
            drop(state);
            self.release(after);
            return Ok(value);
        }
        let dry = state.buffer.len() == 0 && self.exit.is_empty() && self.capacity > 0;
        if dry && self.clock.is_some() {
            drop(state);
            return self.recv_by_clock(deadline);
        }
        if dry && may_spin() {
            drop(state);
            spin_before_park(|| !self.looks_empty() || self.is_closed());
            state = match self.just_take(false) {
                Ok(value) => return Ok(value),
                Err(state) => state,
            };
        }
        self.wait_to_receive(state, deadline)
    }

    /// As [`run_deferred`](Self::run_deferred), for a receiver that has a value and is about to
    /// work on it. The sender that it wakes may be on the same worker and have more values for
    /// other receivers.
    #[inline(always)]
    fn release(&self, after: Deferred) {
        self.run_deferred(after);
        yield_if_slow();
    }

    /// Receives from a channel that a clock sends to.
    #[cold]
    #[track_caller]
    fn recv_by_clock(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        loop {
            let now = wait::now();
            if !self.is_closed()
                && let Some(value) = self.by_clock(now)
            {
                return Ok(value);
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Err(RecvTimeoutError::Timeout);
            }
            let limit = self.due().into_iter().chain(deadline).min();
            match self.wait_to_receive(self.state.lock(), limit) {
                Err(RecvTimeoutError::Timeout) => {}
                ended => return ended,
            }
        }
    }

    /// Returns the value that the channel's clock sends at `now`, if any.
    #[cold]
    pub(super) fn by_clock(&self, now: Instant) -> Option<T> {
        self.clock.as_ref()?.value_at(now)
    }

    /// Returns when the channel's clock sends next, if ever.
    pub(super) fn due(&self) -> Option<Instant> {
        self.clock.as_ref()?.due()
    }

    #[inline(always)]
    #[track_caller]
    fn wait_to_receive(
        &self,
        state: LockGuard<'_, State<T>>,
        deadline: Option<Instant>,
    ) -> Result<T, RecvTimeoutError> {
        let spec = Spec::interruptible(Reason::Recv).until(deadline);
        let watched = Cell::new(false);
        let waited = wait_held(
            Subject::of(&self.state),
            &self.state,
            state,
            |state| &mut state.receiving,
            &spec,
            |state| {
                if !mutant!("receiver_waits_beside_exit") {
                    self.reclaim_batch(state);
                }
                watched.set(state.is_watched(Side::Send));
                if state.is_empty_and_open() {
                    return Attempt::Wait(None);
                }
                let taken = state.take();
                self.publish_len(state);
                match taken {
                    Ok(taken) => Attempt::Done(Some(taken)),
                    Err(Dry::Ended) => Attempt::Done(None),
                    Err(Dry::Empty) => Attempt::Wait(None),
                }
            },
            || {
                if watched.get() {
                    self.notify_watchers(Side::Send);
                }
            },
        );
        match waited {
            Waited::Done(Some((value, after))) => {
                self.release(after);
                Ok(value)
            }
            Waited::Ended(_, Some(value)) => Ok(value),
            Waited::Done(None) => Err(RecvTimeoutError::Disconnected),
            Waited::Ended(how, None) => Err(match how {
                How::TimedOut => RecvTimeoutError::Timeout,
                How::Interrupted(interrupt) => RecvTimeoutError::Interrupted(interrupt),
                How::Woken(_) | How::Token => RecvTimeoutError::Disconnected,
            }),
        }
    }

    /// Receives at least one value and at most `max`, waiting for the first.
    #[track_caller]
    pub(super) fn recv_many(
        &self,
        out: &mut Vec<T>,
        max: usize,
    ) -> Result<usize, RecvError> {
        if max == 0 {
            return begin(Operation::Receive, (&raw const self.state).addr())
                .map_err(RecvError::Interrupted)
                .map(|()| 0);
        }
        out.push(self.recv(None).map_err(RecvTimeoutError::unlimited)?);
        let mut count = 1;
        while count < max {
            let taken = self.take_ready(out, max - count);
            count += taken;
            if taken < BATCH {
                break;
            }
        }
        Ok(count)
    }

    /// Takes buffered values under one lock, up to `max` and up to one batch.
    fn take_ready(&self, out: &mut Vec<T>, max: usize) -> usize {
        let max = max.min(BATCH);
        out.reserve(max);
        let mut afters: [_; BATCH] = [const { None }; BATCH];
        let mut count = 0;
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
        while count < max
            && let Ok((value, after)) = state.take()
        {
            out.push(value);
            afters[count] = Some(after);
            count += 1;
        }
        self.publish_len(&state);
        drop(state);
        afters
            .into_iter()
            .flatten()
            .for_each(|after| self.run_deferred(after));
        count
    }
}

/// How many receivers after a contended one move the whole buffer to the exit. Arbitrary: small, so
/// that a channel used by one thread soon returns to the plain path.
const CROWDED: u8 = 32;
