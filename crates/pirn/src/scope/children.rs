//! The children of one scope: their number, the waiters for the last one, the panics that have not
//! been joined, and the common token.
//!
//! A panic that can no longer be joined cancels the scope. It does so at the child's end if the
//! handle is gone by then, else when the handle is dropped.
//!
//! Invariants:
//! * SC2. A child accesses nothing of the scope after it has released the lock in [`child_ended`]:
//!   the parent may be gone by then. The wake of the parent is taken along, and needs only the
//!   parent's header. So the child cancels, if it must, before it is counted off.

// Does not own: the lifetimes that make all this safe to use (`open`).

use std::ptr;

use super::census::{Census, Counts, wait_for_none};
use crate::base::mutant::mutant;
use crate::fiber::cancel_scope::{CancelScope, CurrentScope, RegionRef};
use crate::fiber::entry;
use crate::fiber::panic_payload::Panic;
use crate::fiber::ticket::Wake;
use crate::fiber::{EndHook, EndTable, Ending};
use crate::fiber::{FiberPtr, FiberRef, Outcome};
use crate::shim::{Lock, LockGuard};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{How, Spec};

/// The state that a scope's children and its owner share.
pub(super) struct Children {
    state: Lock<State>,
    /// The region of the body and all children.
    pub(super) region: CancelScope,
    /// Whether the scope raises panics that are not joined; otherwise they stay in the handles.
    raises: bool,
}

struct State {
    census: Census,
    /// Children that have panicked, oldest first. The payload is in the header until it is joined.
    panicked: Vec<FiberRef>,
}

impl Children {
    pub(super) fn new(region: CancelScope, raises: bool) -> Children {
        let state = Lock::new(State {
            census: Census::new(),
            panicked: Vec::new(),
        });
        Children {
            state,
            region,
            raises,
        }
    }

    /// Cancels the scope's token.
    pub(super) fn cancel(&self) {
        self.region.token().cancel();
    }

    /// Returns how many children have not ended.
    pub(super) fn alive(&self) -> usize {
        self.state.lock().census.alive
    }

    /// Counts one more child.
    #[inline]
    pub(super) fn count(&self) {
        self.state.lock().census.alive += 1;
    }

    /// Counts off a child that was not spawned in the end.
    pub(super) fn uncount(&self) {
        self.end_one();
    }

    /// Registers `fiber`, which has been counted and not published, to be counted off when it ends.
    ///
    /// # Safety
    /// This value stays at its address until [`wait`](Children::wait) has found that all children
    /// have ended.
    pub(super) unsafe fn adopt(&self, fiber: FiberPtr) {
        // H2: the fiber is not published yet.
        let header = fiber.header();
        if self.raises {
            header.flags.set_keeps_panic();
        }
        // SAFETY: RG1: the region is part of `self`, and the child ends before `wait` does.
        let region = unsafe { RegionRef::new(&self.region) };
        header.set_scope(CurrentScope::of(region));
        let data = ptr::from_ref(self).cast();
        header.set_on_end(Some(EndHook {
            table: &TABLE,
            data,
        }));
    }

    /// Waits until no child is alive, or until the wait ends as `spec` says.
    #[track_caller]
    pub(super) fn wait(&self, spec: &Spec) -> How {
        wait_for_none(self, &self.state, spec)
    }

    /// Takes the oldest panic that was not joined; the others are dropped. Called when no child is
    /// alive and no handle is in use.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        let panicked = std::mem::take(&mut self.state.lock().panicked);
        let mut first = None;
        for child in panicked {
            if child.header().outcome() != Outcome::Panicked {
                continue;
            }
            if first.is_some() {
                // SAFETY: H5: the child has ended, and no handle of it is left in use.
                unsafe { entry::drop_outcome(child.ptr()) };
                continue;
            }
            child.header().set_outcome(Outcome::Taken);
            // SAFETY: H5: as above, and the outcome was a panic.
            first = Some(unsafe { entry::take_panic(child.ptr()) });
        }
        first
    }

    /// Keeps the panic of a child that is about to be counted off. Cancels the scope if the child's
    /// handle is gone.
    #[cold]
    fn raise(&self, fiber: FiberPtr, detached: bool) {
        if detached {
            self.cancel();
        }
        self.state.lock().panicked.push(FiberRef::of(fiber));
    }

    /// Counts one child off and wakes the waiters for the last one (SC2).
    fn end_one(&self) {
        let mut state = self.state.lock();
        state.census.alive -= 1;
        if state.census.alive == 0 {
            self.wake_all(state);
        }
    }

    #[inline(never)]
    fn wake_all(&self, state: LockGuard<'_, State>) {
        let mut state = state;
        if mutant!("scope_touched_when_over") {
            drop(state);
            state = self.state.lock();
        }
        let first = state.census.waiters.claim_first(|_| {});
        let mut others = Vec::new();
        while let Some(wake) = state.census.waiters.claim_first(|_| {}) {
            others.push(wake);
        }
        drop(state);
        first.into_iter().chain(others).for_each(Wake::enqueue);
    }
}

impl Counts for State {
    fn census(&mut self) -> &mut Census {
        &mut self.census
    }
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Scope {
            alive: self.census.alive,
        }
    }
}

/// The end hook of a scope's children.
static TABLE: EndTable = EndTable {
    ended: child_ended,
    panic_left,
    hunger,
};

/// # Safety
/// As for [`child_ended`], of a child that has not ended.
unsafe fn hunger(data: *const (), hungry: bool, wakes: &mut Vec<Wake>) {
    // SAFETY: SC1: the scope waits for the child.
    let children = unsafe { &*data.cast::<Children>() };
    children.state.lock().census.note_hunger(hungry, wakes);
}

/// # Safety
/// `data` points to the `Children` that `fiber` was counted in.
unsafe fn child_ended(data: *const (), fiber: FiberPtr, ending: Ending) {
    // SAFETY: SC1 (`open`): the scope waits for this very call.
    let children = unsafe { &*data.cast::<Children>() };
    if ending.panicked && children.raises {
        children.raise(fiber, ending.detached);
    }
    children.end_one();
}

/// # Safety
/// As for [`child_ended`]; the caller is a handle, which ends before the scope does.
unsafe fn panic_left(data: *const ()) {
    // SAFETY: the caller's promise.
    unsafe { &*data.cast::<Children>() }.cancel();
}
