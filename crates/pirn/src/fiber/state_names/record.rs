//! The record of a fiber's state, in debug builds.
//!
//! The fiber's owner writes it, just before it hands the fiber on, or just after it has taken it.
//! So handing over the fiber orders each step with the next one, and steps need no ordering of
//! their own. There is one exception: a fiber that has parked and a waker that comes at the same
//! moment. The waker's step wins.

use std::process;
// Not from `shim`: not part of a protocol, so models need not check it.
use std::sync::atomic::{AtomicU8, Ordering};

use super::name::State;

/// The state that a fiber is in.
#[derive(Debug)]
pub(crate) struct Life(AtomicU8);

/// The record of a plain thread's header: the thread waits, but is not scheduled.
const THREAD: u8 = u8::MAX;
/// Added to Running: the closure was not run.
const UNRUN: u8 = 0x40;

impl Life {
    pub(crate) fn new() -> Life {
        Life(AtomicU8::new(State::Done.number()))
    }

    /// Begins the record of a new fiber.
    pub(crate) fn begin(&self) {
        self.0.store(State::Init.number(), Ordering::Relaxed);
    }

    /// Marks the record as that of a plain thread.
    pub(crate) fn exempt(&self) {
        self.0.store(THREAD, Ordering::Relaxed);
    }

    /// Records the fiber's next state.
    pub(crate) fn step(&self, next: State) {
        if let Err(before) = self.try_step(next) {
            eprintln!("pirn: a fiber that is {before:?} cannot become {next:?}");
            process::abort();
        }
    }

    /// Records the next state, or returns the present one if the step is illegal.
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

    /// Records that the fiber has parked; a waker may have come already.
    pub(crate) fn parked(&self) {
        let (from, to) = (State::Parking.number(), State::Parked.number());
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Records that the running fiber has dropped its closure unrun.
    pub(crate) fn unrun(&self) {
        self.0.fetch_or(UNRUN, Ordering::Relaxed);
    }

    /// Records that the fiber has ended.
    pub(crate) fn end(&self) {
        let unrun = self.0.load(Ordering::Relaxed) & UNRUN != 0;
        self.step(if unrun { State::Cancelled } else { State::Done });
    }
}

#[cfg(test)]
mod tests {
    use super::{Life, State};

    /// Steps that are not in the picture are refused.
    // Proves: F1.
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
