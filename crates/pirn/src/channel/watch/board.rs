//! The data that the ends of a watch channel share: the value, and its version.
//!
//! # Invariants
//! * WB1. A sender raises `version` after its change, before it ends its turn to write. A party
//!   that sees a version and then reads the value sees that change or a later one. A party that may
//!   read the value, and sees a version meanwhile, sees the version of that value.
//! * WB2. A receiver waits only with the present version, while there are senders. A sender that
//!   raises the version, or that is the last to be dropped, wakes all waiting receivers.
//! * WB3. A sender waits in `closing` only while there are receivers (`closing`).

use crate::channel::closing::{Closing, wake_closing};
use crate::fiber::current;
use crate::fiber::waiter::WaitQueue;
use crate::shim::{self, Lock};
use crate::sync::{RwLock, RwLockReadGuard};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::polling::forbids_waiting;
use crate::wait::wait_info::{Subject, closed};
use crate::wait::wake_all;

/// How often a read is tried in the middle of a poll, with a yield of the thread between attempts:
/// for a millisecond or more. Arbitrary.
const TRIES: u32 = 4_000;

/// A value that all receivers can read.
pub(super) struct Board<T> {
    pub(super) value: RwLock<T>,
    pub(super) state: Lock<State>,
}

/// The state under the short lock.
pub(super) struct State {
    pub(super) version: u64,
    /// Waiting receivers, each with the version that it has seen (WB2).
    pub(super) waiting: WaitQueue<u64>,
    /// Parties that wait until there is no receiver (WB3).
    closing: WaitQueue<()>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Watch {
            senders: self.senders,
            waiting: self.waiting.count(),
        }
    }
}

impl Closing for State {
    fn is_over(&self) -> bool {
        self.receivers == 0
    }

    fn closing(&mut self) -> &mut WaitQueue<()> {
        &mut self.closing
    }
}

impl<T> Board<T> {
    pub(super) fn new(value: T) -> Self {
        Board {
            value: RwLock::new(value),
            state: Lock::new(State {
                version: 0,
                waiting: WaitQueue::new(),
                closing: WaitQueue::new(),
                senders: 1,
                receivers: 1,
            }),
        }
    }

    /// Returns a read guard of the value. In the middle of a poll, where waiting is not allowed, it
    /// tries for a while. A sender holds the value only for a moment, unless user code changes it.
    #[track_caller]
    pub(super) fn look(&self) -> RwLockReadGuard<'_, T> {
        if forbids_waiting(current::local()) {
            for _ in 0..TRIES {
                if let Some(guard) = self.value.try_read() {
                    return guard;
                }
                shim::thread::yield_now();
            }
        }
        self.value.read()
    }

    /// Changes the value with `f`, and wakes all waiting receivers. They are not woken if `f`
    /// panics.
    #[track_caller]
    pub(super) fn change<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.value.write();
        let result = f(&mut value);
        let mut state = self.state.lock();
        state.version += 1;
        let version = state.version;
        drop(state);
        // The receivers need their turns to read.
        drop(value);
        self.wake_before(version);
        result
    }

    /// Wakes all receivers that wait with an earlier version.
    fn wake_before(&self, version: u64) {
        wake_all(&self.state, |state| {
            state.waiting.claim_first_if(|seen| *seen < version, |_| ())
        });
    }

    pub(super) fn remove_sender(&self) {
        let mut state = self.state.lock();
        state.senders -= 1;
        let last = state.senders == 0;
        drop(state);
        if last {
            closed(Subject::of(&self.state));
            wake_all(&self.state, |state| state.waiting.claim_first(|_| ()));
        }
    }

    pub(super) fn remove_receiver(&self) {
        let mut state = self.state.lock();
        state.receivers -= 1;
        let awaited = state.receivers == 0 && !state.closing.is_empty();
        drop(state);
        if awaited {
            wake_closing(&self.state);
        }
    }
}
