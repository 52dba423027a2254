//! Cancelling a token, steps 1 to 5 (`token`), and linking one below another, which may cancel it.

use std::mem;
use std::sync::Arc;

use super::token::{Link, Node, Registered};
use crate::base::drop_guard::end_caught;
use crate::base::mutant::mutant;
use crate::fiber::waking::Wake;
use crate::fiber::waking::release::wake_all;
use crate::shim::atomic::Ordering;

/// The number of fibers that are notified in one critical section; as in `waking::release`.
const BATCH: usize = 32;

impl Node {
    /// Creates a node below all of `parents`.
    pub(crate) fn below(parents: [Option<Arc<Node>>; 2]) -> Arc<Node> {
        let node = Arc::new(Node::new());
        for (place, parent) in parents.into_iter().enumerate() {
            let Some(parent) = parent else { continue };
            match parent.adopt(&node) {
                Some(key) => {
                    let link = Link { node: parent, key };
                    node.tables.lock().above[place] = Some(link);
                }
                None => node.cancel(),
            }
        }
        node
    }

    /// Cancels `node` with this one, at once if this is cancelled, until it is
    /// [let go](Node::let_go).
    ///
    /// # Panics
    /// If `node` has been linked below another one since it was created.
    pub(crate) fn cancel_with(self: &Arc<Self>, node: &Arc<Node>) {
        if node.tables.lock().link_to(self).is_some() {
            return;
        }
        let Some(key) = self.adopt(node) else {
            node.cancel();
            return;
        };
        let mut tables = node.tables.lock();
        let place = tables.above.iter_mut().find(|place| place.is_none());
        *place.expect("a node is put below one other at most") = Some(Link {
            node: Arc::clone(self),
            key,
        });
    }

    /// Cancels this node and everything below it. Runs callbacks, and drops their captures.
    pub(crate) fn cancel(&self) {
        let (mut due, mut calling) = (Vec::new(), Vec::new());
        let calls = self.cancel_one(&mut due);
        // No recursion: a tree may be deeper than a stack.
        while let Some(node) = due.pop() {
            if node.cancel_one(&mut due) {
                calling.push(node);
            }
        }
        if calls {
            self.call_all();
        }
        for node in calling {
            node.call_all();
        }
    }

    /// Steps 1 to 3; leaves the nodes below in `due`. Returns true if this call has cancelled the
    /// node, and it has callbacks.
    fn cancel_one(&self, due: &mut Vec<Arc<Node>>) -> bool {
        let (below, calls) = {
            let mut tables = self.tables.lock();
            if self.is_cancelled() {
                return false;
            }
            // ORDERING: Release: pairs with the Acquire in `is_cancelled`.
            self.cancelled.store(true, Ordering::Release);
            (mem::take(&mut tables.below), !tables.calls.is_empty())
        };
        self.notify_registered();
        wake_all(&self.tables, |tables| tables.waiters.claim_first(|()| {}));
        due.extend(below.into_iter().filter_map(|(_, node)| node.upgrade()));
        calls
    }

    /// Step 5. A callback leaves the table when it is called: an earlier one may deregister it.
    fn call_all(&self) {
        let mut next = 0;
        loop {
            let call = self.tables.lock().take_call(&mut next);
            let Some(call) = call else { return };
            // UNWIND: a callback's panic ends that callback only.
            end_caught(call);
        }
    }

    fn notify_registered(&self) {
        let mut next = 0;
        loop {
            let mut wakes = [const { None }; BATCH];
            let mut tables = self.tables.lock();
            for wake in &mut wakes {
                let Some(Registered(fiber)) = tables.take_fiber(&mut next) else {
                    break;
                };
                if mutant!("notified_without_the_lock") {
                    drop(tables);
                    tables = self.tables.lock();
                }
                // TK2: its entry was there under this lock.
                if fiber.state.revoke() {
                    *wake = Some(Wake::of(fiber));
                }
            }
            let left = !tables.fibers.is_empty();
            drop(tables);
            wakes.into_iter().flatten().for_each(Wake::enqueue);
            if !left {
                return;
            }
        }
    }
}
