//! The search for cycles: fibers each of which waits for the next, and the last for the first.
//!
//! Owns: the walks over the waits of all watched pools, their pace, and the cycles that the last
//! two passes have found. Does not own: what a cycle is (`report::cycle`), or what is done about
//! one (`detector`).
//!
//! A pass reads, at least once, the wait of each fiber that had started when the pass began, lives
//! on, and is not left out (`LinkWalk`). Where fibers run, a look of the detector reads a few
//! pieces of the pass, with pauses, so a pass over many fibers takes several looks. A cycle is
//! confirmed if two passes in a row find it with the same waits. The second pass begins after the
//! first has ended. So each of these waits lasted from its reading in the first pass to its reading
//! in the second, and all of them lasted at the moment between the passes.
//!
//! Where nothing runs, a look makes a pass from its beginning to its end. A pass that began earlier
//! does not count there: a fiber that it has read may have begun to wait since. If something runs
//! meanwhile, the pass continues in pieces.

use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crate::fiber::thread_registry;
use crate::observe::report::LinkWalk;
use crate::report::cycle::{Cycle, Link, cycles};
use crate::sched::pool::shared::Pool;
use crate::shim;

/// Pieces that a look reads while fibers run. A piece takes a quarter of a millisecond of each
/// worker, so all of them take 5 ms. The look lasts 0.4 s with its pauses, and the next begins a
/// second later. In 5 ms a worker reads the waits of some thousands of fibers that are in no cache.
/// Arbitrary.
const PIECES: u32 = 20;

/// The pause after such a piece. Arbitrary: eighty times as long as a piece.
const PAUSE: Duration = Duration::from_millis(20);

/// The search in all pools.
pub(super) struct Search {
    /// The pass that has begun; empty between two passes.
    walks: Vec<LinkWalk>,
    /// The cycles of the last pass.
    seen: HashSet<Cycle>,
    /// The cycles that were found by two passes in a row.
    confirmed: HashSet<Cycle>,
}

impl Search {
    pub(super) fn new() -> Search {
        Search {
            walks: Vec::new(),
            seen: HashSet::new(),
            confirmed: HashSet::new(),
        }
    }

    /// Begins a pass over `pools`. While fibers run (not `quiet`), a pass that has begun continues
    /// in its place.
    pub(super) fn begin<'a>(
        &mut self,
        pools: impl Iterator<Item = &'a Arc<Pool>>,
        quiet: bool,
    ) {
        if quiet || self.walks.is_empty() {
            self.walks = pools.map(LinkWalk::begin).collect();
        }
    }

    /// Continues the pass: to its end while nothing runs (`quiet`), else by a few pieces. Returns
    /// true if it has ended and has left out no fibers. Blocks the calling thread.
    pub(super) fn go_on(&mut self, mut quiet: bool) -> bool {
        let dispatched = self.dispatched();
        let mut pieces = 0;
        while let Some(walk) = self.walks.iter_mut().find(|walk| !walk.is_done()) {
            if pieces == PIECES {
                return false;
            }
            walk.step(quiet);
            let is_done = walk.is_done();
            quiet &= self.dispatched() == dispatched;
            if !quiet && !is_done {
                pieces += 1;
                thread_registry::await_change(Some(shim::now() + PAUSE));
            }
        }
        let (mut links, mut complete) = (BTreeMap::new(), true);
        for walk in self.walks.drain(..) {
            let (found, is_complete) = walk.end();
            links.extend(found);
            complete &= is_complete;
        }
        // In the order of the fibers: the cycles that are found depend on it.
        let links: Vec<Link> = links.into_values().collect();
        let found: HashSet<Cycle> = cycles(&links).into_iter().collect();
        self.confirmed = found.intersection(&self.seen).cloned().collect();
        self.seen = found;
        complete
    }

    /// Returns the number of dispatches in these pools.
    fn dispatched(&self) -> u64 {
        self.walks.iter().map(LinkWalk::dispatched).sum()
    }

    /// Returns the cycles of the last pass.
    pub(super) fn seen(&self) -> impl Iterator<Item = &Cycle> {
        self.seen.iter()
    }

    /// Takes the cycles that the last two passes have both found, with the same waits.
    pub(super) fn take_confirmed(&mut self) -> HashSet<Cycle> {
        mem::take(&mut self.confirmed)
    }
}
