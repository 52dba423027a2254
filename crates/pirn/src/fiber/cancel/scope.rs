//! Regions: parts of a fiber's code under a deadline, a token or a shield.
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
//! point under a token requests it, and registers with it, so that cancelling the token sets the
//! fiber's REVOKED bit. From then on no region has to be checked: the pointer in the header is
//! marked as *without limits*.
//!
//! # Invariants
//! * RG1. A region outlives every pointer to it. Its code removes the pointer from its own header
//!   when it is left, also by unwinding. Fibers that inherit the pointer have left their own bottom
//!   by then, since that comes before the notice of their end (to a scope, `run`), or share in
//!   keeping the region.
//! * RG2. Only the fiber that a region belongs to registers in it, deregisters, and changes its
//!   own header's pointer. A fiber is registered in at most one Token or Bottom region of its own,
//!   and in none outside a shield that it is in.
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
use super::token::Node;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::jobs::Job;
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
    pub(super) depth: u32,
    /// Whether it is a shield or inside one, of its owner or of the code that this is a part of.
    in_shield: bool,
    /// The nearest deadline in force.
    pub(super) limit: Option<LimitRef>,
    /// The fiber that runs the code. None for the region that a group's children share.
    pub(super) owner: Option<FiberPtr>,
    /// The token, boxed, once it is created (RG3).
    token: AtomicPtr<Arc<Node>>,
    /// The owner's registration with the token in force (RG2). Owner.
    pub(super) registration: Cell<Option<TokenRegistration>>,
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
    pub(super) const INNER: Kind = Kind::Token {
        outermost: false,
        root: None,
    };
}

/// A fiber's registration in a token's table.
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
// SAFETY: RG2: the registration is the owner's; the rest is constant or atomic.
unsafe impl Sync for CancelScope {}
// SAFETY: only a region that a group's children share moves to another thread,
// unregistered.
unsafe impl Send for CancelScope {}

/// The depth at which scopes create their token early. Arbitrary: far more than programs nest by
/// hand, and a short walk. (Of two regions in a row, at least one is a scope's.)
pub(super) const FAR: u32 = 64;

const NO_LIMITS: usize = 1;
const UNTIMED: usize = 2;
const MARKS: usize = NO_LIMITS | UNTIMED;
const _: () = assert!(
    align_of::<CancelScope>() > MARKS,
    "marks fit under the address"
);

impl CurrentScope {
    /// No region.
    pub(crate) const NONE: CurrentScope =
        CurrentScope(ptr::without_provenance(NO_LIMITS));

    pub(crate) fn of(region: RegionRef) -> CurrentScope {
        CurrentScope(region.0.as_ptr())
    }

    /// Returns whether only the fiber's state word has to be checked.
    #[inline(always)]
    pub(crate) fn has_no_limits(self) -> bool {
        self.0.addr() & NO_LIMITS != 0
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

    /// Returns whether the region's deadline holds for a child too.
    #[inline(always)]
    pub(super) fn is_timed(self) -> bool {
        self.0.addr() & UNTIMED == 0
    }

    pub(super) fn without_limits(self) -> CurrentScope {
        CurrentScope(self.0.map_addr(|address| address | NO_LIMITS))
    }
}

impl RegionRef {
    /// # Safety
    /// RG1: `region` stays where it is for as long as the result, or a copy of it, is used.
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
    pub(super) fn new(
        outer: Option<RegionRef>,
        kind: Kind,
        limit: Option<LimitRef>,
        owner: Option<FiberPtr>,
    ) -> CancelScope {
        CancelScope {
            outer,
            kind,
            depth: outer.map_or(0, |outer| outer.get().depth.wrapping_add(1)),
            in_shield: matches!(kind, Kind::Shield)
                || outer.is_some_and(|outer| outer.get().in_shield),
            limit,
            owner,
            token: AtomicPtr::new(ptr::null_mut()),
            registration: Cell::new(None),
            noted: Cell::new(ptr::null()),
        }
    }

    /// Returns the region that the children of a group share.
    pub(crate) fn shared(node: Arc<Node>) -> CancelScope {
        CancelScope::new(None, Kind::INNER, None, None).with_token(node)
    }

    /// Returns the region with a token that exists.
    pub(super) fn with_token(self, node: Arc<Node>) -> CancelScope {
        self.token.store(boxed(node), Ordering::Release);
        self
    }

    /// Sets the token, in place of one that the region may have created. It is not shared yet.
    pub(super) fn set_token(&mut self, node: Arc<Node>) {
        let made = self.token.swap(boxed(node), Ordering::AcqRel);
        if !made.is_null() {
            // SAFETY: created by `boxed`, and the region is not shared yet.
            unsafe { drop_boxed(made) };
        }
    }

    /// Sets the token, which has just been created; returns false if another thread was first.
    pub(super) fn place_token(&self, node: Arc<Node>) -> bool {
        let made = boxed(node);
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
        }
        placed.is_ok()
    }

    /// Returns the token of the owner's runtime, if no region is around this one.
    pub(super) fn root(&self) -> Option<Arc<Node>> {
        let Kind::Token { root, .. } = self.kind else {
            return None;
        };
        // SAFETY: RG3: the owner lives, and so does its runtime.
        root.map(|root| unsafe { Node::from_handle(root) })
    }

    /// Returns whether the owner has entered this while `job`, its oldest, was pending: in the
    /// first half of its join.
    ///
    /// Jobs are promoted oldest first. So the job that was the newest at that time is still pending
    /// only if it is newer than `job`; if it is older, it has been promoted.
    pub(super) fn lies_inside(&self, job: &Job) -> bool {
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
    pub(super) fn outwards(&self) -> impl Iterator<Item = &CancelScope> {
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

    /// Returns whether the code, or what it is a part of, is in a shield.
    pub(in crate::fiber) fn is_in_shield(&self) -> bool {
        self.in_shield
    }

    /// Returns whether the fiber's own cancellation is ignored here.
    pub(crate) fn is_shielded(&self) -> bool {
        self.own().any(|region| matches!(region.kind, Kind::Shield))
    }

    pub(super) fn is_outermost(outer: Option<RegionRef>) -> bool {
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

    pub(super) fn has_token(&self) -> bool {
        matches!(self.kind, Kind::Token { .. })
    }

    #[inline]
    pub(super) fn made(&self) -> Option<&Arc<Node>> {
        // ORDERING: Acquire: pairs with the Release of the thread that created it. SAFETY: RG3: a
        // box that exists until the region ends.
        unsafe { self.token.load(Ordering::Acquire).as_ref() }
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
                    // SAFETY: RG3, as in `root`.
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
        self.owner.is_some_and(|owner| owner.state.is_cancelled())
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
