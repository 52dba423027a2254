//! The interface of a pipe for readiness cases: whether an operation would not wait.

use std::time::Instant;

use crate::channel::shared::Pipe;
use crate::channel::state::{Side, Watcher};
use crate::wait;
use crate::wait::choice::Call;
use crate::wait::waiter_slot::WaiterSlot;

/// A pipe with any type of values.
pub(in crate::channel) trait Watched {
    /// Returns whether the operation of `side` would not wait now.
    fn is_ready(&self, side: Side) -> bool;

    /// Returns when the side becomes ready without another party, if ever.
    fn due(&self, side: Side) -> Option<Instant>;

    /// Links the watcher in the queue of `side`. Returns false if the side is ready already.
    ///
    /// # Safety
    /// The slot is empty, and stays alive and at its address until `unwatch`.
    unsafe fn watch(&self, side: Side, call: Call, slot: &WaiterSlot<Watcher>) -> bool;

    /// Unlinks the watcher.
    ///
    /// # Safety
    /// Called after a `watch` of the same side that returned true.
    unsafe fn unwatch(&self, side: Side, slot: &WaiterSlot<Watcher>);
}

impl<T> Watched for Pipe<T> {
    fn is_ready(&self, side: Side) -> bool {
        let mut state = self.state.lock();
        self.refresh_batch_len(&mut state);
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

    unsafe fn watch(&self, side: Side, call: Call, slot: &WaiterSlot<Watcher>) -> bool {
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
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
            unsafe { slot.link(queue, call.ticket, call.code, watcher) };
        }
        !ready
    }

    unsafe fn unwatch(&self, side: Side, slot: &WaiterSlot<Watcher>) {
        let mut state = self.state.lock();
        // SAFETY: the lock of the queue that was joined is held.
        unsafe { slot.unlink(&mut state.watchers[side as usize]) };
    }
}
