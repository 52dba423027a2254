//! The order of turns: the part of a mutex that does not depend on the value.
//!
//! Releasing wakes the first waiter but reserves nothing for it: the first party to come takes the
//! turn, newcomers included (barging). That keeps a busy lock moving, where a strict hand-over
//! would cost a switch for each turn. To prevent starvation, a woken waiter that has been losing
//! for longer than [`PATIENCE`] is handed the turn directly.
//!
//! # Invariants
//! * TN1. `held` is not `FREE` iff a party has the turn; the party that sets it has it. Releasing
//!   by hand-over leaves it set and gives the turn to the claimed waiter.
//! * TN2. At most one waiter is on its way: woken without the turn, and yet to try. `on_the_way` is
//!   set from its claim until it has the turn or waits again. Meanwhile a release wakes no waiter.
//! * TN3. A waiter that lost waits in `losers`, which is served before `arrivals`, so the order of
//!   arrival survives a lost race.
//!
//! LIVENESS: the turn is never free while waiters exist that no party will wake. A release claims a
//! waiter unless one is on its way (TN2). A waiter on its way was claimed as woken, so it cannot
//! time out instead. It tries; then it either releases later itself, or finds the turn taken by a
//! party that will release it after `on_the_way` has been cleared.
//!
//! Models: `sync::a_mutex_…` in tests/model (shuttle).

use std::time::{Duration, Instant};

use super::holder::{FREE, number};
use crate::base::mutant::mutant;
use crate::fiber::FiberId;
use crate::fiber::current::{self, Local};
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::{Lock, LockGuard};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::wait_info::Subject;
use crate::wait::{self, Attempt, How, Spec, Waited, wait_held, wait_in};

/// One turn at a time, in order of arrival except for barging.
pub(super) struct Turns {
    state: Lock<State>,
}

struct State {
    /// [`FREE`], or the number of the party that has the turn (`holder`).
    held: u64,
    /// A waiter has been woken without the turn, and has yet to try (TN2). Set by `free`; cleared
    /// by the waiter, in `arrive` if it takes the turn, and in `take_after` where it waits again.
    on_the_way: bool,
    losers: WaitQueue<Place>,
    arrivals: WaitQueue<Place>,
}

/// The record that a waiter shares with the party that releases the turn.
struct Place {
    /// The waiter's number, as in `held`. Set by the waiter.
    number: u64,
    /// Set by the waiter: it has waited too long to lose again.
    starving: bool,
    /// Set by the releasing party: the turn is the waiter's.
    granted: bool,
}

impl Turns {
    pub(super) const fn new() -> Self {
        let state = State {
            held: FREE,
            on_the_way: false,
            losers: WaitQueue::new(),
            arrivals: WaitQueue::new(),
        };
        Turns {
            state: Lock::new(state),
        }
    }

    /// Returns the address by which reports find the mutex.
    pub(super) fn address(&self) -> usize {
        (&raw const self.state).addr()
    }

    /// Returns true if a party has the turn.
    pub(super) fn is_held(&self) -> bool {
        self.state.lock().held != FREE
    }

    /// Takes the turn if it is free; returns true if so.
    #[inline]
    pub(super) fn try_take(&self) -> bool {
        let caller = number(current::local());
        self.state.lock().take(caller)
    }

    /// Takes the turn, waiting as `spec` says.
    ///
    /// # Errors
    /// How else the wait ended: `TimedOut` or `Interrupted`.
    #[inline]
    #[track_caller]
    pub(super) fn take(&self, local: &Local, spec: &Spec) -> Result<(), How> {
        let caller = number(local);
        let mut state = self.state.lock();
        if state.take(caller) {
            Ok(())
        } else {
            self.take_held(state, caller, spec)
        }
    }

    /// Continues `take` if another party has the turn.
    #[inline(never)]
    #[track_caller]
    fn take_held(
        &self,
        state: LockGuard<'_, State>,
        caller: u64,
        spec: &Spec,
    ) -> Result<(), How> {
        let waited = wait_held(
            Subject::of(&self.state),
            &self.state,
            state,
            |state| &mut state.arrivals,
            spec,
            |state| state.take_or_wait(caller, false),
            || (),
        );
        match waited {
            Waited::Done(()) => Ok(()),
            Waited::Ended(how, place) => self.take_after(how, place, spec),
        }
    }

    /// Continues after the end of a first wait.
    #[cold]
    #[track_caller]
    fn take_after(&self, how: How, place: Place, spec: &Spec) -> Result<(), How> {
        let (mut how, mut place) = (how, place);
        let mut losing_since: Option<Instant> = None;
        loop {
            if !matches!(how, How::Woken(_)) {
                return Err(how);
            }
            if place.granted || self.arrive(place.number) {
                return Ok(());
            }
            let now = wait::now();
            let since = *losing_since.get_or_insert(now);
            let starving = now.duration_since(since) > PATIENCE;
            let lost = |state: &mut State| {
                // TN2: it has the turn, or waits again, before the lock is free.
                state.on_the_way = mutant!("loser_stays_on_the_way");
                state.take_or_wait(place.number, starving)
            };
            match wait_in(&self.state, |state| &mut state.losers, spec, lost) {
                Waited::Done(()) => return Ok(()),
                Waited::Ended(again, kept) => (how, place) = (again, kept),
            }
        }
    }

    /// Tries to take the turn for a woken waiter; if that fails the waiter is on its way until it
    /// waits again.
    fn arrive(&self, caller: u64) -> bool {
        let mut state = self.state.lock();
        let free = state.take(caller);
        if free {
            state.on_the_way = false;
        }
        free
    }

    /// Ends the caller's turn. Never suspends.
    #[inline]
    pub(super) fn free(&self) {
        let mut state = self.state.lock();
        if state.losers.is_empty() && state.arrivals.is_empty() {
            debug_assert!(state.held != FREE, "no party has the turn");
            state.held = FREE;
        } else {
            Turns::free_held(state);
        }
    }

    /// Continues `free` if there are waiters.
    #[inline(never)]
    fn free_held(state: LockGuard<'_, State>) {
        let mut state = state;
        let wake = state.free();
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
        }
    }
}

impl State {
    /// Takes the turn for the caller if it is free; returns true if so.
    #[inline]
    fn take(&mut self, caller: u64) -> bool {
        let free = self.held == FREE;
        if free {
            self.held = caller;
        }
        free
    }

    fn take_or_wait(&mut self, caller: u64, starving: bool) -> Attempt<(), Place> {
        if self.take(caller) {
            Attempt::Done(())
        } else {
            Attempt::Wait(Place {
                number: caller,
                starving,
                granted: false,
            })
        }
    }

    #[inline]
    fn free(&mut self) -> Option<Wake> {
        debug_assert!(self.held != FREE, "no party has the turn");
        self.held = FREE;
        if self.on_the_way {
            return None;
        }
        let mut successor = FREE;
        let mut grant = |place: &mut Place| {
            place.granted = place.starving;
            successor = if place.granted { place.number } else { FREE };
        };
        let wake = match self.losers.claim_first(&mut grant) {
            Some(wake) => Some(wake),
            None => self.arrivals.claim_first(&mut grant),
        };
        self.held = successor;
        self.on_the_way = wake.is_some() && successor == FREE;
        wake
    }
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Mutex {
            held: self.held != FREE,
            holder: FiberId::from_number(self.held),
            waiting: self.losers.count() + self.arrivals.count(),
        }
    }
}

/// How long a waiter may lose against newcomers. Handing over a turn costs a switch, or a wake of
/// another core (tens of microseconds); at one such turn per half millisecond that is small. Set by
/// the design, not measured.
const PATIENCE: Duration = Duration::from_micros(500);
