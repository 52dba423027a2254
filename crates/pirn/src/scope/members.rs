//! The fibers of one group: the number that are alive, those that have ended, and the waiters.
//!
//! Invariants:
//! * GR1. A fiber of the group holds one reference to [`Shared`], from before it is published to
//!   the end of its end hook. It is stored in the hook's data.
//! * GR2. A fiber in `ended` is finished, and its outcome belongs to the group: its handle was
//!   forgotten, and its reference is the group's.
//! * GR3. All fibers of a [`Members`] have its result type. If results are only counted, the type
//!   has one value, without a size and without a destructor.

// Owns: the count, the results that were not taken, and the three queues. The group's handle and
// each of its fibers share it, so a fiber may outlive the handle.

use std::collections::VecDeque;
use std::iter;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::sync::Arc;

use super::census::{Census, Counts, answer, wait_for_none};
use crate::fiber::cancel_scope::{CancelScope, CurrentScope, RegionRef};
use crate::fiber::entry;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::fiber::token::Node;
use crate::fiber::waiter::WaitQueue;
use crate::fiber::{EndHook, EndTable, Ending};
use crate::fiber::{FiberPtr, FiberRef};
use crate::join::{Fiber, Fresh, Joined};
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, How, Spec, Waited, wait_in};

/// The fibers of one group, with results of type `T` (GR3).
pub(super) struct Members<T> {
    shared: Arc<Shared>,
    /// `spawn` puts a `T` in and `take_next` takes it out: a group of a subtype is not this group.
    results: PhantomData<fn(T) -> T>,
}

/// The state that a group and its fibers share. Compiled once for all result types.
struct Shared {
    state: Lock<State>,
    /// The token of the group.
    node: Arc<Node>,
    /// One for each runtime on which a fiber was spawned; never removed.
    places: Lock<Vec<Place>>,
    /// Whether results are only counted: all values of the type are the same.
    counts: bool,
}

/// What the fibers of one runtime share.
struct Place {
    /// The token of the runtime. It is kept, since its address identifies the runtime.
    root: Arc<Node>,
    /// Their region, with a token below that of the group and that of the runtime.
    region: Box<CancelScope>,
}

struct State {
    census: Census,
    /// Oldest first.
    ended: VecDeque<FiberRef>,
    /// The number of results that are only counted.
    counted: usize,
    /// Waiters for the next end.
    next: WaitQueue<()>,
    /// Waiters for a place below the limit.
    room: WaitQueue<()>,
}

/// The result of [`Members::take_next`].
pub(super) enum Next<E, C> {
    /// A finished fiber; its outcome belongs to the caller.
    Ended(E),
    /// A fiber with a result that was only counted.
    Counted(C),
    /// No fiber is left.
    None,
}

impl State {
    /// Claims the waiters for any of the fibers, if they must borrow a stack.
    fn claim_borrowers(&mut self, wakes: &mut Vec<Wake>) {
        if self.census.all_are_stackless() {
            while let Some(wake) = self.next.claim_first(|()| {}) {
                wakes.push(wake);
            }
            while let Some(wake) = self.room.claim_first(|()| {}) {
                wakes.push(wake);
            }
        }
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

impl<T> Members<T> {
    pub(super) fn new(node: Arc<Node>) -> Members<T> {
        let counts = size_of::<T>() == 0 && !mem::needs_drop::<T>();
        Members {
            shared: Shared::new(node, counts),
            results: PhantomData,
        }
    }

    pub(super) fn alive(&self) -> usize {
        self.shared.state.lock().census.alive
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.shared.node.is_cancelled()
    }

    /// Counts one more fiber. While `limit` fibers are alive, it waits first, as `spec` says.
    #[track_caller]
    pub(super) fn count(&self, limit: usize, spec: &Spec) -> How {
        self.shared.count(limit, spec)
    }

    /// Counts off a fiber that was not spawned in the end.
    pub(super) fn uncount(&self) {
        self.shared.end_one(None, false);
    }

    /// Adds `fresh`, which has been counted, to the group, and publishes it by `queue`, which
    /// returns it if it was not queued. `root`: the token of its runtime.
    ///
    /// # Errors
    /// The closure, if the fiber was not queued; it has been counted off.
    pub(super) fn publish<F: FnOnce() -> T>(
        &self,
        fresh: Fresh<F, T>,
        root: &Arc<Node>,
        queue: impl FnOnce(FiberPtr) -> Result<(), FiberPtr>,
    ) -> Result<Fiber, F> {
        self.shared.adopt(fresh.ptr(), root);
        // For the caller; created before the fiber can end.
        let name = Fiber::from_ref(FiberRef::of(fresh.ptr()));
        let queue = |fiber| queue(fiber).inspect_err(|fiber| self.shared.disown(*fiber));
        match fresh.publish(queue) {
            Ok(joined) => {
                // GR2: its reference is the group's.
                let _ = ManuallyDrop::new(joined);
                Ok(name)
            }
            Err(f) => {
                self.uncount();
                Err(f)
            }
        }
    }

    /// Waits for the next end.
    #[track_caller]
    pub(super) fn take_next(&self, spec: &Spec) -> Result<Next<Joined<T>, T>, How> {
        match self.shared.take_next(spec)? {
            Next::Ended(fiber) => {
                let ended = ManuallyDrop::new(fiber);
                // SAFETY: J1, GR2, GR3: the reference of the only handle to a fiber of result type
                // `T`, handed over.
                Ok(Next::Ended(unsafe { Joined::new(ended.ptr()) }))
            }
            // SAFETY: GR3: counted, so `T` has one value, which has no size and no destructor.
            Next::Counted(()) => Ok(Next::Counted(unsafe { mem::zeroed::<T>() })),
            Next::None => Ok(Next::None),
        }
    }

    /// Waits until no fiber is alive.
    #[track_caller]
    pub(super) fn wait(&self, spec: &Spec) -> How {
        self.shared.wait(spec)
    }
}

impl Shared {
    fn new(node: Arc<Node>, counts: bool) -> Arc<Shared> {
        Arc::new(Shared {
            state: Lock::new(State {
                census: Census::new(),
                ended: VecDeque::new(),
                counted: 0,
                next: WaitQueue::new(),
                room: WaitQueue::new(),
            }),
            node,
            places: Lock::new(Vec::new()),
            counts,
        })
    }

    /// [`Members::count`].
    #[track_caller]
    fn count(&self, limit: usize, spec: &Spec) -> How {
        let mut refused = None;
        loop {
            let admit = |state: &mut State| {
                if state.census.alive < limit {
                    state.census.alive += 1;
                    return Attempt::Done(None);
                }
                match state.census.asks_all(refused) {
                    None => Attempt::Wait(()),
                    asks => Attempt::Done(asks),
                }
            };
            match wait_in(&self.state, |state| &mut state.room, spec, admit) {
                Waited::Done(None) => return How::Woken(Code::case(0)),
                Waited::Done(asks) => refused = self.borrow(spec, asks),
                // There was a place for a moment; another party may have taken it.
                Waited::Ended(How::Woken(_), ()) => {}
                Waited::Ended(how, ()) => return how,
            }
        }
    }

    /// Adds `fiber`, which has been counted and not published, to the group.
    fn adopt(self: &Arc<Self>, fiber: FiberPtr, root: &Arc<Node>) {
        // H2: not published yet.
        let header = fiber.header();
        header.set_scope(CurrentScope::of(self.region(root)));
        header.set_on_end(Some(EndHook {
            table: &TABLE,
            data: Arc::into_raw(Arc::clone(self)).cast(),
        }));
    }

    /// Returns the region of the fibers of the runtime with the token `root`, for one that is
    /// adopted and so keeps this value.
    fn region(&self, root: &Arc<Node>) -> RegionRef {
        let mut places = self.places.lock();
        let known = places.iter().position(|at| Arc::ptr_eq(&at.root, root));
        let at = known.unwrap_or_else(|| {
            let both = [&self.node, root].map(|node| Some(Arc::clone(node)));
            let region = Box::new(CancelScope::shared(Node::below(both)));
            let root = Arc::clone(root);
            places.push(Place { root, region });
            places.len() - 1
        });
        // SAFETY: RG1, GR1: a box in the value that the fiber keeps until it has ended.
        unsafe { RegionRef::new(&places[at].region) }
    }

    /// Undoes [`adopt`](Shared::adopt) for a fiber that will not be published.
    fn disown(&self, fiber: FiberPtr) {
        // H2: never published.
        let header = fiber.header();
        if let Some(EndHook { data, .. }) = header.take_on_end() {
            // SAFETY: GR1: the reference made in `adopt`.
            drop(unsafe { Arc::from_raw(data.cast::<Shared>()) });
        }
    }

    /// [`Members::take_next`].
    #[track_caller]
    fn take_next(&self, spec: &Spec) -> Result<Next<FiberRef, ()>, How> {
        let mut refused = None;
        loop {
            let attempt = |state: &mut State| {
                if let Some(fiber) = state.ended.pop_front() {
                    Attempt::Done(Ok(Next::Ended(fiber)))
                } else if state.counted > 0 {
                    state.counted -= 1;
                    Attempt::Done(Ok(Next::Counted(())))
                } else if state.census.alive == 0 {
                    Attempt::Done(Ok(Next::None))
                } else if let Some(asks) = state.census.asks_all(refused) {
                    Attempt::Done(Err(asks))
                } else {
                    Attempt::Wait(())
                }
            };
            match wait_in(&self.state, |state| &mut state.next, spec, attempt) {
                Waited::Done(Ok(next)) => return Ok(next),
                Waited::Done(Err(asks)) => refused = self.borrow(spec, Some(asks)),
                Waited::Ended(How::Woken(_), ()) => {}
                Waited::Ended(how, ()) => return Err(how),
            }
        }
    }

    /// [`Members::wait`].
    #[track_caller]
    fn wait(&self, spec: &Spec) -> How {
        wait_for_none(self, &self.state, spec)
    }

    /// Serves a request to borrow a stack; returns it if that was in vain.
    #[cold]
    #[track_caller]
    fn borrow(&self, spec: &Spec, asks: Option<usize>) -> Option<usize> {
        answer(self, spec, asks)
    }

    /// Counts one fiber off, and wakes the waiters for that.
    fn end_one(&self, ended: Option<FiberRef>, counted: bool) {
        let mut state = self.state.lock();
        state.census.alive -= 1;
        let is_last = state.census.alive == 0;
        let has_result = ended.is_some() || counted;
        state.ended.extend(ended);
        state.counted += usize::from(counted);
        let room = state.room.claim_first(|()| {});
        let next = match has_result {
            true => state.next.claim_first(|()| {}),
            false => None,
        };
        let mut others = Vec::new();
        state.claim_borrowers(&mut others);
        if is_last {
            // The waiters for all, and those for an end that will not come. Before the lock is
            // released: a fiber that is spawned later has waiters of its own, which do not look at
            // the count again.
            let State { census, next, .. } = &mut *state;
            others.extend(iter::from_fn(|| census.waiters.claim_first(|_| {})));
            others.extend(iter::from_fn(|| next.claim_first(|()| {})));
        }
        drop(state);
        let wakes = others.into_iter().chain(room).chain(next);
        wakes.for_each(Wake::enqueue);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for fiber in mem::take(&mut self.state.get_mut().ended) {
            // SAFETY: GR2.
            unsafe { entry::drop_outcome(fiber.ptr()) };
        }
    }
}

/// The end hook of a group's fibers.
static TABLE: EndTable = EndTable {
    ended: member_ended,
    panic_left: |_| {},
    set_stackless,
};

/// # Safety
/// `data` is the reference that [`Shared::adopt`] made for a fiber that has not ended.
unsafe fn set_stackless(data: *const (), stackless: bool, wakes: &mut Vec<Wake>) {
    // SAFETY: GR1.
    let members = unsafe { &*data.cast::<Shared>() };
    let mut state = members.state.lock();
    state.census.count_stackless(stackless, wakes);
    state.claim_borrowers(wakes);
}

/// # Safety
/// `data` is the reference that [`Shared::adopt`] made for `fiber`.
unsafe fn member_ended(data: *const (), fiber: FiberPtr, ending: Ending) {
    // SAFETY: GR1.
    let members = unsafe { Arc::from_raw(data.cast::<Shared>()) };
    // GR2: no handle was made, so the outcome is still there.
    let outcome = fiber.header().outcome();
    let counted =
        members.counts && !ending.panicked && outcome == crate::fiber::Outcome::Value;
    // GR2: the reference that a handle would have had.
    // SAFETY: created with the fiber, and not handed out before.
    let fiber = unsafe { FiberRef::from_owned(fiber) };
    match counted {
        true => members.end_one(None, true),
        false => members.end_one(Some(fiber), false),
    }
}
