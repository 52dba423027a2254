//! The interface of a channel for readiness cases: whether an operation would not wait.

use std::pin::Pin;
use std::time::Instant;

use crate::channel::shared::Shared;
use crate::channel::state::{Side, Watcher};
use crate::wait;
use crate::wait::choice::Call;
use crate::wait::waiter_slot::WaiterSlot;

/// A channel with any type of values.
pub(in crate::channel) trait Watched {
    /// Returns whether the operation of `side` would not wait now.
    fn is_ready(&self, side: Side) -> bool;

    /// Returns when the side becomes ready without another party, if ever.
    fn due(&self, side: Side) -> Option<Instant>;

    /// Links the watcher in the queue of `side`. Returns false if the side is ready already.
    fn watch(&self, side: Side, call: Call, slot: Pin<&WaiterSlot<Watcher>>) -> bool;

    /// Unlinks the watcher. Called after a `watch` of the same side that returned true.
    fn unwatch(&self, side: Side, slot: Pin<&WaiterSlot<Watcher>>);
}

impl<T> Watched for Shared<T> {
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

    fn watch(&self, side: Side, call: Call, slot: Pin<&WaiterSlot<Watcher>>) -> bool {
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
        let ready = match side {
            Side::Send => state.may_send(Some(call.ticket)),
            Side::Receive => state.may_receive(Some(call.ticket)),
        };
        if !ready {
            let watcher = Watcher {
                seen: state.notifications,
                ticket: call.ticket,
            };
            let queue = &mut state.watchers[side as usize];
            slot.link(queue, call.ticket, call.code, watcher);
        }
        !ready
    }

    fn unwatch(&self, side: Side, slot: Pin<&WaiterSlot<Watcher>>) {
        let mut state = self.state.lock();
        slot.unlink(&mut state.watchers[side as usize]);
    }
}
