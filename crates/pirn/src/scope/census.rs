//! The counts of a scope or a group: fibers that are alive, and fresh fibers that find no stack
//! (`fiber::stackless`). It also has the waiters for the last end.

use std::ptr;

use crate::fiber::stackless::BorrowTarget;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::Describe;
use crate::wait::wait_info::Subject;
use crate::wait::{Attempt, How, Spec, Waited, lend, wait_for};

/// A part of the state under a scope's or a group's lock.
pub(super) struct Census {
    pub(super) alive: usize,
    stackless: usize,
    /// The number of times that a fiber has become stackless; identifies a request to borrow a
    /// stack.
    asks: usize,
    /// Waiters until no fiber is alive, each with a flag that requests it to borrow a stack.
    pub(super) waiters: WaitQueue<bool>,
}

/// A state that contains a census.
pub(super) trait Counts: Describe {
    fn census(&mut self) -> &mut Census;
}

impl Census {
    pub(super) fn new() -> Census {
        Census {
            alive: 0,
            stackless: 0,
            asks: 0,
            waiters: WaitQueue::new(),
        }
    }

    /// Counts a fiber that has become stackless, and requests the waiters for all to borrow a
    /// stack; or counts one that no longer is.
    pub(super) fn count_stackless(&mut self, stackless: bool, wakes: &mut Vec<Wake>) {
        if !stackless {
            self.stackless -= 1;
            return;
        }
        self.stackless += 1;
        self.asks = self.asks.wrapping_add(1);
        while let Some(wake) = self.waiters.claim_first(|asked| *asked = true) {
            wakes.push(wake);
        }
    }

    /// Returns the request that a waiter must serve; `refused` is the one that it has served in
    /// vain.
    fn asks(&self, refused: Option<usize>) -> Option<usize> {
        (self.stackless > 0 && refused != Some(self.asks)).then_some(self.asks)
    }

    /// As [`asks`](Self::asks), for a party that waits for any one of the fibers to end. It returns
    /// a request only if all fibers are stackless, since otherwise another one may end first.
    pub(super) fn asks_all(&self, refused: Option<usize>) -> Option<usize> {
        match self.all_are_stackless() {
            true => self.asks(refused),
            false => None,
        }
    }

    pub(super) fn all_are_stackless(&self) -> bool {
        self.stackless > 0 && self.stackless == self.alive
    }
}

/// Waits until no fiber counted under `lock` is alive, or until the wait ends as `spec` says.
/// `lock` is a part of `whole`, to which the fibers' end hooks point.
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

/// Serves a request for the fibers with end hooks that point to `whole`; returns the request if
/// that was in vain.
#[cold]
#[track_caller]
pub(super) fn answer<T>(whole: &T, spec: &Spec, asks: Option<usize>) -> Option<usize> {
    let wanted = BorrowTarget::ChildOf(ptr::from_ref(whole).cast());
    match lend(spec, wanted) {
        true => None,
        false => asks,
    }
}
