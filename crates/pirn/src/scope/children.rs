//! The children of one scope: how many are alive, who waits for the last one, and the panics
//! that nobody has joined.
//!
//! Does not own: the lifetimes that make all this safe to use (`region`).
//!
//! Invariants:
//! * SC2. A child touches nothing of the scope after it has freed the lock in [`child_ended`]:
//!   the parent may be gone by then. The duty to wake the parent is taken along, and needs
//!   only the parent's header.

use crate::base::mutant::mutant;
use crate::fiber::entry::{self, Panic};
use crate::fiber::header::EndHook;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::fiber::{FiberPtr, FiberRef, Outcome};
use crate::shim::Lock;
use crate::wait::{Attempt, How, Spec, Waited, wait_in};

/// What a scope's children and its owner share.
pub(super) struct Children(Lock<State>);

struct State {
    alive: usize,
    waiters: WaitQueue<()>,
    /// Children that have panicked, oldest first; the payload is still in the header unless
    /// somebody has joined them.
    panicked: Vec<FiberRef>,
}

impl Children {
    pub(super) fn new() -> Children {
        Children(Lock::new(State {
            alive: 0,
            waiters: WaitQueue::new(),
            panicked: Vec::new(),
        }))
    }

    /// How many have not ended.
    pub(super) fn alive(&self) -> usize {
        self.0.lock().alive
    }

    /// Counts one more child.
    pub(super) fn count(&self) {
        self.0.lock().alive += 1;
    }

    /// Counts off a child that was not spawned after all.
    pub(super) fn uncount(&self) {
        self.end_one(None);
    }

    /// Has `fiber`, which has been counted and not published, counted off when it ends.
    ///
    /// # Safety
    /// These children stay where they are until [`wait`](Children::wait) has found all of
    /// them ended.
    pub(super) unsafe fn adopt(&self, fiber: FiberPtr) {
        // SAFETY: H1; not published yet.
        let header = unsafe { fiber.as_ref() };
        header.keeps_panic.set(true);
        let data = std::ptr::from_ref(self).cast();
        header.on_end.set(Some(EndHook {
            call: child_ended,
            data,
        }));
    }

    /// Waits until none is alive, or `spec` says otherwise.
    pub(super) fn wait(&self, spec: &Spec) -> How {
        let attempt = |state: &mut State| match state.alive {
            0 => Attempt::Done(()),
            _ => Attempt::Wait(()),
        };
        match wait_in(&self.0, |state| &mut state.waiters, spec, attempt) {
            Waited::Done(()) => How::Woken(crate::fiber::state::Code::case(0)),
            Waited::Ended(how, ()) => how,
        }
    }

    /// Takes the oldest panic that nobody has joined; the others are dropped. Once none is
    /// alive and no handle is left in use.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        let panicked = std::mem::take(&mut self.0.lock().panicked);
        let mut first = None;
        for child in panicked {
            if child.header().outcome.get() != Outcome::Panicked {
                continue;
            }
            if first.is_some() {
                // SAFETY: H5: the child has ended, and no handle of it is left in use.
                unsafe { entry::drop_outcome(child.ptr()) };
                continue;
            }
            child.header().outcome.set(Outcome::Taken);
            // SAFETY: H5: as above, and the outcome was a panic.
            first = Some(unsafe { entry::take::<Panic>(child.ptr()) });
        }
        first
    }

    /// Counts one child off and wakes whoever waits for the last one (SC2).
    fn end_one(&self, panicked: Option<FiberRef>) {
        let mut state = self.0.lock();
        state.panicked.extend(panicked);
        state.alive -= 1;
        if state.alive > 0 {
            return;
        }
        if mutant!("scope_touched_when_over") {
            drop(state);
            state = self.0.lock();
        }
        let first = state.waiters.claim_first(|()| {});
        let mut others = Vec::new();
        while let Some(wake) = state.waiters.claim_first(|()| {}) {
            others.push(wake);
        }
        drop(state);
        first.into_iter().chain(others).for_each(Wake::enqueue);
    }
}

/// The end hook of a scope's children.
///
/// # Safety
/// `data` points to the `Children` that `fiber` was counted in.
unsafe fn child_ended(data: *const (), fiber: FiberPtr, panicked: bool) {
    // SAFETY: SC1 (`region`): the scope waits for this very call.
    let children = unsafe { &*data.cast::<Children>() };
    children.end_one(panicked.then(|| FiberRef::of(fiber)));
}
