//! The creation of regions, and of their tokens (RG3, RG4 in `scope`).

use std::sync::Arc;

use super::scope::{CancelScope, CurrentScope, FAR, Kind, LimitRef, RegionRef};
use super::token::Node;
use crate::base::mutant::mutant;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::header::Header;
use crate::fiber::jobs::Job;

impl CancelScope {
    /// Returns the region of code of `owner` with the deadline `deadline`, or without one.
    pub(crate) fn limited(owner: FiberPtr, limit: Option<LimitRef>) -> CancelScope {
        CancelScope::new(in_force(owner).region(), Kind::Limit, limit, Some(owner))
    }

    /// Returns the region of code of `owner` with a token of its own. Its runtime's token is `root`.
    pub(crate) fn tokened(owner: FiberPtr, root: Option<&Arc<Node>>) -> CancelScope {
        let outer = in_force(owner).region();
        let kind = Kind::Token {
            outermost: CancelScope::is_outermost(outer),
            root: root
                .filter(|_| outer.is_none_or(|outer| outer.get().ends_bare()))
                .map(Node::handle),
        };
        let limit = outer.and_then(|outer| outer.get().limit);
        let region = CancelScope::new(outer, kind, limit, Some(owner));
        // So that a search outwards for a created token is short.
        if region.depth % FAR >= FAR - 2 {
            region.token();
        }
        region
    }

    /// As [`tokened`](CancelScope::tokened), with a token that exists.
    pub(crate) fn entered(owner: FiberPtr, node: Arc<Node>) -> CancelScope {
        let mut region = CancelScope::tokened(owner, None);
        region.set_token(node);
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
        region.with_token(Node::below([token, own]))
    }

    /// Returns the bottom region of `owner`, a child that inherits `outer`.
    #[inline(always)]
    pub(crate) fn bottom(owner: FiberPtr, outer: RegionRef) -> CancelScope {
        let timed = in_force(owner).is_timed();
        let limit = outer.get().limit.filter(|_| timed);
        CancelScope::new(Some(outer), Kind::Bottom, limit, Some(owner))
    }

    /// Returns the region of code of `owner` that ignores everything outside.
    pub(crate) fn shield(owner: FiberPtr) -> CancelScope {
        CancelScope::new(in_force(owner).region(), Kind::Shield, None, Some(owner))
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

    fn make(&self) {
        let around = self.outwards().skip(1).find(|region| region.has_token());
        let parent = match around {
            Some(region) => region.made().cloned(),
            None => self.root(),
        };
        let whole = self.outermost_owner().and_then(whole_token);
        if self.place_token(Node::below([parent, whole])) {
            self.show_owner();
        }
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

    /// Puts the token into the header of its owner (RG4): when it has just been created, and when its
    /// region is entered again.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn show_owner(&self) {
        let Some(header) = self.outermost_owner() else {
            return;
        };
        let node = self.made().expect("a created token");
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
}

/// Returns the innermost of `owner`'s regions around `job`, its oldest.
fn around(owner: FiberPtr, job: &Job) -> Option<RegionRef> {
    let mut next = in_force(owner).region();
    while let Some(place) = next {
        let region = place.get();
        let others = mutant!("half_under_the_others_limits");
        if region.owner != Some(owner) || !region.lies_inside(job) || others {
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
        if join.done && !mutant!("token_kept_after_the_end") {
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
