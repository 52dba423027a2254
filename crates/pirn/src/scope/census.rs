//! How many fibers of a scope or a group are alive, how many of them are fresh and find no stack
//! (`fiber::hunger`), and who waits until none is alive.

use std::ptr;

use crate::fiber::hunger::Wanted;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::notice::Subject;
use crate::wait::object::Describe;
use crate::wait::{Attempt, How, Spec, Waited, lend, wait_for};

/// A part of what a scope's or a group's lock guards.
pub(super) struct Census {
    pub(super) alive: usize,
    hungry: usize,
    /// How often one has come to be hungry; names an asking.
    asks: usize,
    /// Those who wait until none is alive, each with whether it has been asked.
    pub(super) waiters: WaitQueue<bool>,
}

/// What has a census.
pub(super) trait Counts: Describe {
    fn census(&mut self) -> &mut Census;
}

impl Census {
    pub(super) fn new() -> Census {
        Census {
            alive: 0,
            hungry: 0,
            asks: 0,
            waiters: WaitQueue::new(),
        }
    }

    /// One more is hungry, and the waiters for all are asked to borrow a stack; or one less.
    pub(super) fn note_hunger(&mut self, hungry: bool, wakes: &mut Vec<Wake>) {
        if !hungry {
            self.hungry -= 1;
            return;
        }
        self.hungry += 1;
        self.asks = self.asks.wrapping_add(1);
        while let Some(wake) = self.waiters.claim_first(|asked| *asked = true) {
            wakes.push(wake);
        }
    }

    /// Which asking a waiter is to answer that has answered the `refused` one in vain.
    fn asks(&self, refused: Option<usize>) -> Option<usize> {
        (self.hungry > 0 && refused != Some(self.asks)).then_some(self.asks)
    }

    /// As [`asks`](Self::asks), for one that waits for any of the fibers to end: only if all are
    /// hungry, since otherwise another one may end first.
    pub(super) fn asks_all(&self, refused: Option<usize>) -> Option<usize> {
        match self.all_are_hungry() {
            true => self.asks(refused),
            false => None,
        }
    }

    pub(super) fn all_are_hungry(&self) -> bool {
        self.hungry > 0 && self.hungry == self.alive
    }
}

/// Waits until none is alive of the fibers that are counted under `lock`, a part of `whole`, to
/// which their end hooks point; or until `spec` says otherwise.
#[track_caller]
pub(super) fn wait_for_none<S: Counts, T>(whole: &T, lock: &Lock<S>, spec: &Spec) -> How {
    let subject = Subject::of(lock).part_of(whole);
    let mut refused = None;
    loop {
        let attempt = |state: &mut S| match state.census() {
            census if census.alive == 0 => Attempt::Done(None),
            census => match census.asks(refused) {
                None => Attempt::Wait(false),
                asks => Attempt::Done(asks),
            },
        };
        let waited = wait_for(
            subject,
            lock,
            |state| &mut state.census().waiters,
            spec,
            attempt,
        );
        match waited {
            Waited::Done(None) => return How::Woken(Code::case(0)),
            Waited::Done(asks) => refused = answer(whole, spec, asks),
            Waited::Ended(How::Woken(_), true) => {}
            Waited::Ended(how, _) => return how,
        }
    }
}

/// Answers an asking for the fibers whose end hooks point to `whole`; returns it if in vain.
#[cold]
#[track_caller]
pub(super) fn answer<T>(whole: &T, spec: &Spec, asks: Option<usize>) -> Option<usize> {
    let wanted = Wanted::ChildOf(ptr::from_ref(whole).cast());
    match lend(spec, wanted) {
        true => None,
        false => asks,
    }
}
