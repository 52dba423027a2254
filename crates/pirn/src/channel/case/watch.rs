//! What a pipe shows to those who watch it: whether an operation would not wait.

use std::time::Instant;

use crate::channel::pipe::Pipe;
use crate::channel::state::{Side, Watcher};
use crate::wait;
use crate::wait::berth::Berth;
use crate::wait::choice::Call;

/// A pipe of any type of values.
pub(in crate::channel) trait Watched {
    /// Whether the operation of `side` would not wait now.
    fn is_ready(&self, side: Side) -> bool;

    /// When that becomes so by itself.
    fn due(&self, side: Side) -> Option<Instant>;

    /// Joins those who are told when it becomes so; false if it is so by now.
    ///
    /// # Safety
    /// The berth is empty, and stays alive and where it is until `unwatch`.
    unsafe fn watch(&self, side: Side, call: Call, berth: &Berth<Watcher>) -> bool;

    /// Leaves them.
    ///
    /// # Safety
    /// After a `watch` of the same side that returned true.
    unsafe fn unwatch(&self, side: Side, berth: &Berth<Watcher>);
}

impl<T> Watched for Pipe<T> {
    fn is_ready(&self, side: Side) -> bool {
        let mut state = self.state.lock();
        self.look_ahead(&mut state);
        match side {
            Side::Send => state.may_send(None),
            Side::Receive => {
                state.may_receive(None)
                    || self.due().is_some_and(|due| due <= wait::now())
            }
        }
    }

    fn due(&self, side: Side) -> Option<Instant> {
        match side {
            Side::Send => None,
            Side::Receive => self.due(),
        }
    }

    unsafe fn watch(&self, side: Side, call: Call, berth: &Berth<Watcher>) -> bool {
        let mut state = self.state.lock();
        self.reunite(&mut state);
        let ready = match side {
            Side::Send => state.may_send(Some(call.ticket)),
            Side::Receive => state.may_receive(Some(call.ticket)),
        };
        if !ready {
            let watcher = Watcher {
                seen: state.told,
                ticket: call.ticket,
            };
            let queue = &mut state.watchers[side as usize];
            // SAFETY: the lock is held; the rest is the caller's promise.
            unsafe { berth.join(queue, call.ticket, call.code, watcher) };
        }
        !ready
    }

    unsafe fn unwatch(&self, side: Side, berth: &Berth<Watcher>) {
        let mut state = self.state.lock();
        // SAFETY: the lock of the queue that was joined is held.
        unsafe { berth.leave(&mut state.watchers[side as usize]) };
    }
}
