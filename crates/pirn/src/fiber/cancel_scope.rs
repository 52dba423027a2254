//! Regions: parts of a fiber's code under a deadline, a token or a shield.
//!
//! Owns: the record of one region, the pointer by which headers reach the innermost one, the token
//! that a region creates on request. Does not own: the seats in that token (`token_registration`),
//! or when an interrupt is reported (`wait::deadline`).
//!
//! A region is in the frame of its code (or in the data that a group's children share with their
//! owner) and points to the region around it. A child of a scope has a region of its own at the
//! *bottom* of its stack, which points to the scope's. So the chain of a fiber's regions continues
//! from its own frames to those of its parent.
//!
//! | kind | made by | token | deadline | own cancellation |
//! |---|---|---|---|---|
//! | Limit | `timeout`, `with_deadline` | as outside | its own | as outside |
//! | Token | `scope`, `Token::enter`, `TaskGroup` | its own, below the one outside | as outside, or none | as outside |
//! | Token | the promotion of a job of `par::join` | its own, below the one around the join and one that is cancelled with the fiber | as around the join | by that |
//! | Bottom | the start of a child | as outside | as outside | the child's |
//! | Shield | `shield` | none | none | ignored |
//!
//! Tokens are created late: most scopes end before their token is needed. The first interruption
//! point under a token requests it, and takes a seat, so that cancelling the token sets the fiber's
//! REVOKED bit. From then on no region has to be checked: the pointer in the header is marked
//! *calm*.
//!
//! # Invariants
//! * RG1. A region outlives every pointer to it. Its code removes the pointer from its own header
//!   when it is left, also by unwinding. Fibers that inherit the pointer have left their own bottom
//!   by then, since that comes before the notice of their end (to a scope, `run`), or share in
//!   keeping the region.
//! * RG2. Only the fiber that a region belongs to takes its seat, gives it up, and changes its own
//!   header's pointer. A fiber has a seat in at most one Token or Bottom region of its own, and
//!   none in regions outside a shield that it is in.
//! * RG3. A created token stays until its region ends. It is below the token of the region around
//!   it, which is created before. The token of an outermost region is below its runtime's, and
//!   inside a shield below none.
//! * RG4. The token of a fiber's outermost Token region is in its header, so that cancelling the
//!   fiber cancels the fibers that it has spawned. The code that creates it puts it there and
//!   *then* checks whether the fiber has been cancelled. A canceller sets CANCEL and *then* looks
//!   for the token there. One of the two sees the other, since the lock of the joiners is between.
//!   (Once the fiber has promoted a job, a token of its own is there until it ends, and those of
//!   its outermost regions are below it while they are entered.)

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::deadline::Limit;
use super::fiber_ptr::FiberPtr;
use super::header::Header;
use super::jobs::Job;
use super::token::Node;
use crate::base::mutant::mutant;
use crate::shim::Cell;
use crate::shim::atomic::{AtomicPtr, Ordering};

/// One part of a fiber's code.
pub(crate) struct CancelScope {
    /// The region around this one, the owner's or, of a bottom, its parent's; none at the end of
    /// the chain.
    pub(super) outer: Option<RegionRef>,
    /// The kind, with its data.
    pub(super) kind: Kind,
    /// The number of regions around it.
    depth: u32,
    /// The nearest deadline in force.
    limit: Option<LimitRef>,
    /// The fiber that runs the code. None for the region that a group's children share.
    owner: Option<FiberPtr>,
    /// The token, boxed, once it is created (RG3).
    token: AtomicPtr<Arc<Node>>,
    /// The owner's seat in the token in force (RG2). Owner.
    pub(super) seat: Cell<Option<TokenRegistration>>,
    /// Its newest pending job when the owner entered this, or the root of its jobs; null if it is
    /// entered with none. Owner.
    pub(super) noted: Cell<*const Job>,
}

#[derive(Copy, Clone)]
pub(super) enum Kind {
    Limit,
    Bottom,
    Shield,
    Token {
        /// No other Token region of the same fiber is around it (RG4).
        outermost: bool,
        /// The token of the owner's runtime, if no region is around it.
        root: Option<NonNull<Node>>,
    },
}

impl Kind {
    /// The kind of a Token region that is created with its token, and is not outermost.
    const INNER: Kind = Kind::Token {
        outermost: false,
        root: None,
    };
}

/// A fiber's seat in a token's table.
#[derive(Copy, Clone)]
pub(super) struct TokenRegistration {
    /// The token.
    pub(super) node: NonNull<Node>,
    /// The key in its table.
    pub(super) key: usize,
}

/// A pointer to a region that still exists (RG1).
#[derive(Copy, Clone)]
pub(crate) struct RegionRef(NonNull<CancelScope>);

/// A pointer to a deadline that still exists (RG1: it is beside its region).
#[derive(Copy, Clone)]
pub(crate) struct LimitRef(NonNull<Limit>);

/// The region of the code that a fiber runs, if any, and whether an interruption point has to check
/// it.
#[derive(Copy, Clone)]
pub(crate) struct CurrentScope(*const CancelScope);

// SAFETY: RG1; the parts that other threads access are constant or atomic (RG2).
unsafe impl Send for RegionRef {}
// SAFETY: as above.
unsafe impl Sync for RegionRef {}
// SAFETY: RG2: the seat is the owner's; the rest is constant or atomic.
unsafe impl Sync for CancelScope {}
// SAFETY: only a region that a group's children share moves to another thread, without a seat.
unsafe impl Send for CancelScope {}

/// The depth at which scopes create their token early. Arbitrary: far more than programs nest by
/// hand, and a short walk. (Of two regions in a row, at least one is a scope's.)
const FAR: u32 = 64;

const CALM: usize = 1;
const UNTIMED: usize = 2;
const MARKS: usize = CALM | UNTIMED;
const _: () = assert!(
    align_of::<CancelScope>() > MARKS,
    "marks fit under the address"
);

impl CurrentScope {
    /// No region.
    pub(crate) const NONE: CurrentScope = CurrentScope(ptr::without_provenance(CALM));

    pub(crate) fn of(region: RegionRef) -> CurrentScope {
        CurrentScope(region.0.as_ptr())
    }

    /// Returns whether only the fiber's state word has to be checked.
    #[inline(always)]
    pub(crate) fn has_no_limits(self) -> bool {
        self.0.addr() & CALM != 0
    }

    #[inline(always)]
    pub(crate) fn region(self) -> Option<RegionRef> {
        let place = self.0.map_addr(|address| address & !MARKS).cast_mut();
        NonNull::new(place).map(RegionRef)
    }

    /// The same without the region's deadline, for a child with another clock.
    pub(crate) fn untimed(self) -> CurrentScope {
        CurrentScope(self.0.map_addr(|address| address | UNTIMED))
    }

    pub(super) fn calm(self) -> CurrentScope {
        CurrentScope(self.0.map_addr(|address| address | CALM))
    }
}

impl RegionRef {
    /// # Safety
    /// RG1: `cancel_scope` stays where it is for as long as the result, or a copy of it, is used.
    pub(crate) unsafe fn new(region: &CancelScope) -> RegionRef {
        RegionRef(NonNull::from(region))
    }

    pub(crate) fn get(&self) -> &CancelScope {
        // SAFETY: RG1.
        unsafe { self.0.as_ref() }
    }
}

impl LimitRef {
    /// # Safety
    /// RG1: as for regions.
    pub(crate) unsafe fn new(limit: &Limit) -> LimitRef {
        LimitRef(NonNull::from(limit))
    }

    pub(crate) fn get(&self) -> &Limit {
        // SAFETY: RG1.
        unsafe { self.0.as_ref() }
    }
}

impl CancelScope {
    #[inline(always)]
    fn new(
        outer: Option<RegionRef>,
        kind: Kind,
        limit: Option<LimitRef>,
        owner: Option<FiberPtr>,
    ) -> CancelScope {
        CancelScope {
            outer,
            kind,
            depth: outer.map_or(0, |outer| outer.get().depth.wrapping_add(1)),
            limit,
            owner,
            token: AtomicPtr::new(ptr::null_mut()),
            seat: Cell::new(None),
            noted: Cell::new(ptr::null()),
        }
    }

    /// Returns the region of code of `owner` with the deadline `deadline`, or without one.
    pub(crate) fn limited(owner: FiberPtr, limit: Option<LimitRef>) -> CancelScope {
        CancelScope::new(in_force(owner).region(), Kind::Limit, limit, Some(owner))
    }

    /// Returns the region of code of `owner` with a token of its own, and without a deadline unless
    /// `limits`. Its runtime's token is `root`.
    pub(crate) fn tokened(
        owner: FiberPtr,
        root: Option<&Arc<Node>>,
        limits: bool,
    ) -> CancelScope {
        let outer = in_force(owner).region();
        let kind = Kind::Token {
            outermost: CancelScope::is_outermost(outer),
            root: root
                .filter(|_| outer.is_none_or(|outer| outer.get().ends_bare()))
                .map(Node::handle),
        };
        let limit = outer.filter(|_| limits).and_then(|outer| outer.get().limit);
        let region = CancelScope::new(outer, kind, limit, Some(owner));
        // So that a search outwards for a created token is short.
        if region.depth % FAR >= FAR - 2 {
            region.token();
        }
        region
    }

    /// As [`tokened`](CancelScope::tokened), with a token that exists.
    pub(crate) fn entered(owner: FiberPtr, node: Arc<Node>) -> CancelScope {
        let region = CancelScope::tokened(owner, None, true);
        let made = region.token.swap(boxed(node), Ordering::AcqRel);
        if !made.is_null() {
            // SAFETY: created above and not shared yet.
            unsafe { drop_boxed(made) };
        }
        region.show_owner();
        region
    }

    /// Returns the region that a fiber inherits which runs `job`, the oldest of `owner`'s. The
    /// token of the owner's runtime is `root`. It is the region around the join, not one that has
    /// been entered inside it.
    ///
    /// The owner does not enter it. It is below a token in the owner's header, by the protocol of
    /// RG4, so that the owner's cancellation reaches the fiber.
    pub(crate) fn of_job(
        owner: FiberPtr,
        job: &Job,
        root: Option<&Arc<Node>>,
    ) -> CancelScope {
        let outer = around(owner, job);
        let token = match &outer {
            Some(region) if region.get().ends_bare() => root.cloned(),
            Some(region) => region.get().token_in_force().cloned(),
            None => root.cloned(),
        };
        let shielded = outer.is_some_and(|region| region.get().is_shielded());
        let own = (!shielded).then(|| token_of_jobs(owner));
        let limit = outer.and_then(|region| region.get().limit);
        let region = CancelScope::new(outer, Kind::INNER, limit, Some(owner));
        let node = Node::below([token, own]);
        region.token.store(boxed(node), Ordering::Release);
        region
    }

    /// Returns the region that the children of a group share.
    pub(crate) fn shared(node: Arc<Node>) -> CancelScope {
        let region = CancelScope::new(None, Kind::INNER, None, None);
        region.token.store(boxed(node), Ordering::Release);
        region
    }

    /// Returns the bottom region of `owner`, a child that inherits `outer`.
    #[inline(always)]
    pub(crate) fn bottom(owner: FiberPtr, outer: RegionRef) -> CancelScope {
        let timed = in_force(owner).0.addr() & UNTIMED == 0;
        let limit = outer.get().limit.filter(|_| timed);
        CancelScope::new(Some(outer), Kind::Bottom, limit, Some(owner))
    }

    /// Returns the region of code of `owner` that ignores everything outside.
    pub(crate) fn shield(owner: FiberPtr) -> CancelScope {
        CancelScope::new(in_force(owner).region(), Kind::Shield, None, Some(owner))
    }

    /// Returns whether the owner has entered this while `job`, its oldest, was pending: in the
    /// first half of its join.
    ///
    /// Jobs are promoted oldest first. So the job that was the newest at that time is still pending
    /// only if it is newer than `job`; if it is older, it has been promoted.
    fn lies_inside(&self, job: &Job) -> bool {
        let noted = self.noted.get();
        // SAFETY: JO2: its join is around this region, which is entered; or it is the root of a
        // worker's jobs.
        ptr::eq(noted, job) || unsafe { noted.as_ref() }.is_some_and(Job::is_pending)
    }

    /// Returns the nearest deadline in force.
    pub(crate) fn limit(&self) -> Option<LimitRef> {
        self.limit
    }

    /// Returns the regions from this one outwards, up to a shield or the end, both included.
    fn outwards(&self) -> impl Iterator<Item = &CancelScope> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let region = next?;
            next = match region.kind {
                Kind::Shield => None,
                // SAFETY: RG1: the region around one that exists.
                _ => region.outer.map(|outer| unsafe { outer.0.as_ref() }),
            };
            Some(region)
        })
    }

    /// As [`outwards`](CancelScope::outwards), no further than the bottom of the same fiber.
    pub(super) fn own(&self) -> impl Iterator<Item = &CancelScope> {
        let mut over = false;
        self.outwards().take_while(move |region| {
            let take = !over;
            over = matches!(region.kind, Kind::Bottom);
            take
        })
    }

    /// Returns whether the fiber's own cancellation is ignored here.
    pub(crate) fn is_shielded(&self) -> bool {
        self.own().any(|region| matches!(region.kind, Kind::Shield))
    }

    fn is_outermost(outer: Option<RegionRef>) -> bool {
        outer.is_none_or(|outer| {
            let inside = |region: &CancelScope| {
                matches!(region.kind, Kind::Token { .. } | Kind::Shield)
            };
            !outer.get().own().any(inside)
        })
    }

    /// Returns whether neither a token nor a shield is around, so that the runtime's token is in
    /// force.
    pub(crate) fn ends_bare(&self) -> bool {
        self.outwards()
            .all(|region| matches!(region.kind, Kind::Limit | Kind::Bottom))
    }

    fn has_token(&self) -> bool {
        matches!(self.kind, Kind::Token { .. })
    }

    /// Returns the token in force, creating it if necessary; none if that is the runtime's, or
    /// there is none.
    pub(crate) fn token_in_force(&self) -> Option<&Arc<Node>> {
        let region = self.outwards().find(|region| region.has_token())?;
        Some(region.token())
    }

    /// Returns this region's own token, creating it if necessary.
    ///
    /// # Panics
    /// If it is not a Token region.
    pub(crate) fn token(&self) -> &Arc<Node> {
        assert!(self.has_token(), "a region with a token");
        if let Some(made) = self.made() {
            return made;
        }
        let tokens = self.outwards().filter(|region| region.has_token());
        let unmade: Vec<&CancelScope> = tokens
            .take_while(|region| region.made().is_none())
            .collect();
        // The outer ones first (RG3), and in a loop: scopes may be nested deeper than a
        // stack can recurse.
        unmade.into_iter().rev().for_each(CancelScope::make);
        self.made().expect("just made")
    }

    #[inline]
    pub(super) fn made(&self) -> Option<&Arc<Node>> {
        // ORDERING: Acquire: pairs with the Release of the thread that created it. SAFETY: RG3: a
        // box that exists until the region ends.
        unsafe { self.token.load(Ordering::Acquire).as_ref() }
    }

    fn make(&self) {
        let Kind::Token { root, .. } = self.kind else {
            unreachable!("only Token regions make tokens");
        };
        let around = self.outwards().skip(1).find(|region| region.has_token());
        let parent = match around {
            Some(region) => region.made().cloned(),
            // SAFETY: RG3: the owner lives, and so does its runtime.
            None => root.map(|root| unsafe { Node::from_handle(root) }),
        };
        let whole = self.outermost_owner().and_then(whole_token);
        let made = boxed(Node::below([parent, whole]));
        // ORDERING: Release: pairs with `made`.
        let placed = self.token.compare_exchange(
            ptr::null_mut(),
            made,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if placed.is_err() {
            // SAFETY: created above and not shared yet.
            unsafe { drop_boxed(made) };
            return;
        }
        self.show_owner();
    }

    /// Returns the owner, if no other Token region of its own is around this one.
    fn outermost_owner(&self) -> Option<&Header> {
        let outermost = matches!(
            self.kind,
            Kind::Token {
                outermost: true,
                ..
            }
        );
        let owner = self.owner.filter(|_| outermost)?;
        // RG1: the region exists, so its owner has not ended.
        Some(owner.header())
    }

    /// Puts a token that has just been created into the header of its owner (RG4).
    fn show_owner(&self) {
        let Some(header) = self.outermost_owner() else {
            return;
        };
        let node = self.made().expect("just made");
        let early = mutant!("own_token_after_the_look") && header.state.is_cancelled();
        let before = {
            let mut join = header.join.lock();
            match join.whole {
                // It is below that one, unless that one was set in between.
                true => None,
                false => join.own.replace(Arc::clone(node)),
            }
        };
        // Dropped outside the lock.
        drop(before);
        if let Some(whole) = whole_token(header) {
            whole.cancel_with(node);
        }
        let late = !mutant!("own_token_after_the_look") && header.state.is_cancelled();
        if early || late {
            node.cancel();
        }
    }

    /// Returns whether a child that starts here is already cancelled. Creates no token.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        let mut region = self;
        loop {
            match region.kind {
                Kind::Shield => return false,
                Kind::Limit | Kind::Bottom => {}
                Kind::Token { outermost, root } => {
                    if let Some(node) = region.made() {
                        return node.is_cancelled();
                    }
                    if outermost && region.is_owner_cancelled() {
                        return true;
                    }
                    // SAFETY: RG3, as in `make`.
                    if root.is_some_and(|root| unsafe { root.as_ref() }.is_cancelled()) {
                        return true;
                    }
                }
            }
            match &region.outer {
                // SAFETY: RG1: the region around one that exists.
                Some(outer) => region = unsafe { outer.0.as_ref() },
                None => return false,
            }
        }
    }

    fn is_owner_cancelled(&self) -> bool {
        // RG1: the region exists, so its owner has not ended.
        let owner = self.owner.map(|owner| owner.header());
        owner.is_some_and(|owner| owner.state.is_cancelled())
    }
}

impl Drop for CancelScope {
    #[inline]
    fn drop(&mut self) {
        let made = self.token.load(Ordering::Relaxed);
        if !made.is_null() {
            // SAFETY: RG3: created by `boxed`, and the region ends here.
            unsafe { drop_boxed(made) };
        }
    }
}

/// # Safety
/// Created by [`boxed`], and no longer used.
#[cold]
unsafe fn drop_boxed(made: *mut Arc<Node>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(made) });
}

fn boxed(node: Arc<Node>) -> *mut Arc<Node> {
    Box::into_raw(Box::new(node))
}

/// Returns the innermost of `owner`'s regions around `job`, its oldest.
fn around(owner: FiberPtr, job: &Job) -> Option<RegionRef> {
    let mut next = in_force(owner).region();
    while let Some(place) = next {
        let region = place.get();
        if region.owner != Some(owner) || !region.lies_inside(job) {
            break;
        }
        next = region.outer;
    }
    next
}

/// Returns the token of the fiber itself, if it has promoted jobs.
fn whole_token(header: &Header) -> Option<Arc<Node>> {
    let join = header.join.lock();
    join.own.clone().filter(|_| join.whole)
}

/// Returns the token that is cancelled with `owner`, for the jobs that it promotes. It replaces the
/// token of the owner's outermost region, which is cancelled with it.
fn token_of_jobs(owner: FiberPtr) -> Arc<Node> {
    // H2: the caller's own header.
    let header = owner.header();
    if let Some(made) = whole_token(header) {
        return made;
    }
    let node = Node::below([None, None]);
    let early = mutant!("jobs_token_after_the_look") && header.state.is_cancelled();
    let before = {
        let mut join = header.join.lock();
        if join.done {
            // Work after the fiber's end, in wakers, cannot be cancelled; and the next fiber here
            // is another one.
            return node;
        }
        join.whole = true;
        join.own.replace(Arc::clone(&node))
    };
    if let Some(before) = before {
        node.cancel_with(&before);
    }
    // After the token can be found there (RG4).
    let late = !mutant!("jobs_token_after_the_look") && header.state.is_cancelled();
    if early || late {
        node.cancel();
    }
    node
}

fn in_force(owner: FiberPtr) -> CurrentScope {
    // H2: the caller's own header.
    owner.header().scope()
}
