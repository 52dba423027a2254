//! The children of one scope: their number, the waiters for the last one, the panics that have not
//! been joined, and the common token.
//!
//! A panic that can no longer be joined cancels the scope. It does so at the child's end if the
//! handle is gone by then, else when the handle is dropped.
//!
//! Invariants:
//! * SC2. A child accesses nothing of the scope after it has released the lock in
//!   [`Children::ended`]: the parent may be gone by then. The wake of the parent is taken along,
//!   and needs only the parent's header. So the child cancels, if it must, before it is counted
//!   off.

// Does not own: how a child reaches this (`scoped`), and the lifetimes that make all this safe to
// use (`open`).

use super::census::{Census, Counts, wait_for_none};
use crate::base::mutant::mutant;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::header::Outcome;
use crate::fiber::ticket::Wake;
use crate::fiber::{Ending, FiberPtr, FiberRef};
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
    /// Whether the children have the clock of the deadline of the body, which then holds for them
    /// too.
    timed: bool,
}

struct State {
    census: Census,
    /// Children that have panicked, oldest first. Joined ones are removed when the list is full. A
    /// payload stays in its header until it is joined.
    panicked: Vec<FiberRef>,
}

impl Children {
    pub(super) fn new(region: CancelScope, raises: bool, timed: bool) -> Children {
        let state = Lock::new(State {
            census: Census::new(),
            panicked: Vec::new(),
        });
        Children {
            state,
            region,
            raises,
            timed,
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

    /// Returns whether the scope raises panics that are not joined.
    #[inline]
    pub(super) fn raises(&self) -> bool {
        self.raises
    }

    /// Returns whether the deadline of the body holds for the children too.
    #[inline]
    pub(super) fn timed(&self) -> bool {
        self.timed
    }

    /// Waits until no child is alive, or until the wait ends as `spec` says.
    #[track_caller]
    pub(super) fn wait(&self, spec: &Spec) -> How {
        wait_for_none(self, &self.state, spec)
    }

    /// Returns the children that have panicked, oldest first, and forgets them.
    pub(super) fn take_panicked(&self) -> Vec<FiberRef> {
        std::mem::take(&mut self.state.lock().panicked)
    }

    /// Counts `fiber` off, which has ended so (SC2).
    pub(super) fn ended(&self, fiber: FiberPtr, ending: Ending) {
        if ending.panicked && self.raises {
            self.raise(fiber, ending.detached);
        }
        self.end_one();
    }

    /// Records that a child waits for a stack, or no longer waits.
    pub(super) fn count_stackless(&self, stackless: bool, wakes: &mut Vec<Wake>) {
        self.state.lock().census.count_stackless(stackless, wakes);
    }

    /// Keeps the panic of a child that is about to be counted off. Cancels the scope if the child's
    /// handle is gone.
    #[cold]
    fn raise(&self, fiber: FiberPtr, detached: bool) {
        if detached {
            self.cancel();
        }
        let mut state = self.state.lock();
        let joined = state.forget_joined();
        state.panicked.push(FiberRef::of(fiber));
        drop(state);
        drop(joined);
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

impl State {
    /// If the list is full, removes and returns the children with joined panics. So a panic costs
    /// constant amortized time, and memory only until it is joined.
    fn forget_joined(&mut self) -> Vec<FiberRef> {
        let capacity = self.panicked.capacity();
        if self.panicked.len() < capacity {
            return Vec::new();
        }
        let joined: Vec<FiberRef> = self
            .panicked
            .extract_if(.., |child| is_joined(child))
            .collect();
        if self.panicked.len() > capacity / 2 {
            self.panicked.reserve(capacity);
        }
        joined
    }
}

/// True if the panic of `child` has been joined, and its handle is gone.
fn is_joined(child: &FiberRef) -> bool {
    // H5: the outcome is that of the last reference.
    child.is_sole() && child.header().outcome() == Outcome::Taken
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
