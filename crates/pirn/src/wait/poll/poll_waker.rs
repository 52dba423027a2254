//! Poll wakers: wakers for a caller that polls a future itself.
//!
//! Owns: the link between a `Waker` and a party that parks between polls. Does not own: polling
//! (`future`), nor futures that wait in a queue (`future_waiter`).
//!
//! A `PollWaker` exists as long as a waker of it does. It refers to the party only while that is
//! parked, by a waiter in the party's own frame, like any primitive.
//!
//! LIVENESS: no wake is lost. A wake and a wait both take the lock. If the wake comes first, it
//! finds no waiter and sets `rung`, and the wait consumes that instead of parking. If the wait
//! comes first, the wake finds the waiter and claims it. A waiter that is still linked after its
//! wait has ended otherwise cannot be claimed: then the wake sets `rung` too.

use std::mem;
use std::sync::Arc;
use std::task::Wake;

use crate::base::mutant::mutant;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::interrupt::Interrupt;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::queue::{Attempt, Waited, wait_in};
use crate::wait::spec::Spec;

/// The target of a waker, and the wait of one party.
pub(crate) struct PollWaker(Lock<State>);

struct State {
    /// Set by a wake that no wait has consumed yet.
    rung: bool,
    /// The party, while it waits.
    waiting: WaitQueue<()>,
}

impl PollWaker {
    pub(crate) fn new() -> PollWaker {
        PollWaker(Lock::new(State {
            rung: false,
            waiting: WaitQueue::new(),
        }))
    }

    /// Waits for a wake; returns at once if one has come since the last wait.
    ///
    /// # Errors
    /// The interrupt that has ended the wait, if `spec` accepts any.
    #[track_caller]
    pub(crate) fn wait(&self, spec: &Spec) -> Result<(), Interrupt> {
        let attempt = |state: &mut State| match mem::take(&mut state.rung) {
            true => Attempt::Done(()),
            false => Attempt::Wait(()),
        };
        match wait_in(&self.0, |state| &mut state.waiting, spec, attempt) {
            Waited::Done(()) => Ok(()),
            Waited::Ended(how, ()) => how.interrupt().map_or(Ok(()), Err),
        }
    }

    fn ring(&self) {
        let mut state = self.0.lock();
        let wake = state.waiting.claim_first(|()| ());
        if wake.is_none() && !mutant!("alarm_rung_before_the_wait") {
            state.rung = true;
        }
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
        }
    }
}

impl Wake for PollWaker {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Future
    }
}
