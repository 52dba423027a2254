//! The record of a fiber's state, in debug builds.
//!
//! Written by whoever owns the fiber, just before it hands it on, or just after it has taken it; so
//! each step is ordered with the next one by what hands the fiber over, and needs no ordering of its
//! own. One step is not: a fiber that has parked and the waker that comes at the same moment. The
//! waker's wins.

use std::process;
// Not from `shim`: no part of any protocol, so no model need drive it.
use std::sync::atomic::{AtomicU8, Ordering};

use super::name::State;

/// The state that a fiber is in.
#[derive(Debug)]
pub(crate) struct Life(AtomicU8);

/// A plain thread's header: it waits, but is not scheduled.
const THREAD: u8 = u8::MAX;
/// Added to Running: the closure was not run.
const UNRUN: u8 = 0x40;

impl Life {
    pub(crate) fn new() -> Life {
        Life(AtomicU8::new(State::Done.number()))
    }

    /// A new fiber.
    pub(crate) fn begin(&self) {
        self.0.store(State::Init.number(), Ordering::Relaxed);
    }

    /// It stands for a plain thread.
    pub(crate) fn exempt(&self) {
        self.0.store(THREAD, Ordering::Relaxed);
    }

    /// The fiber's next state.
    pub(crate) fn step(&self, next: State) {
        if let Err(before) = self.try_step(next) {
            eprintln!("pirn: a fiber that is {before:?} cannot become {next:?}");
            process::abort();
        }
    }

    /// Its next state, unless that cannot follow; then the present one.
    pub(super) fn try_step(&self, next: State) -> Result<(), State> {
        let before = self.0.load(Ordering::Relaxed);
        if before == THREAD {
            return Ok(());
        }
        let state = State::ALL[usize::from(before & !UNRUN)];
        if !state.may_become(next) {
            return Err(state);
        }
        self.0.store(next.number(), Ordering::Relaxed);
        Ok(())
    }

    /// It has parked; a waker may have come already.
    pub(crate) fn parked(&self) {
        let (from, to) = (State::Parking.number(), State::Parked.number());
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// It runs, and has dropped its closure unrun.
    pub(crate) fn unrun(&self) {
        self.0.fetch_or(UNRUN, Ordering::Relaxed);
    }

    /// It has ended.
    pub(crate) fn end(&self) {
        let unrun = self.0.load(Ordering::Relaxed) & UNRUN != 0;
        self.step(if unrun { State::Cancelled } else { State::Done });
    }
}

#[cfg(test)]
mod tests {
    use super::{Life, State};

    /// Steps that are not in the picture are found.
    #[test]
    fn an_illegal_step_is_refused() {
        for from in State::ALL {
            for to in State::ALL {
                let life = Life::new();
                life.0.store(from.number(), super::Ordering::Relaxed);
                match from.may_become(to) {
                    true => assert_eq!(life.try_step(to), Ok(())),
                    false => assert_eq!(life.try_step(to), Err(from)),
                }
            }
        }
        let life = Life::new();
        life.begin();
        assert_eq!(life.try_step(State::Running), Err(State::Init));
        life.step(State::Runnable);
        life.step(State::Running);
        life.step(State::Parking);
        life.step(State::Runnable);
        life.parked();
        assert_eq!(life.try_step(State::Parked), Err(State::Runnable));
        life.step(State::Running);
        life.unrun();
        life.end();
        assert_eq!(
            life.0.load(super::Ordering::Relaxed),
            State::Cancelled.number()
        );
    }
}
