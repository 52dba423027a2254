//! How many nodes each node still waits for in a run, and who starts whom.
//!
//! Owns: the words. Does not own: how a node is run (`run`).
//!
//! Protocol. Each node has a word: the number of nodes right in front of it that have not
//! ended. The caller of the run sets all words before any node runs ([`reset`]), and
//! starts those whose word is 0. Whoever has run a node takes one off the word of each
//! node right behind it ([`ended`]); who brings a word to 0 starts that node, by running
//! it or by spawning a fiber that does.
//!
//! # Invariants
//! * G1. In one run, a node is started at most once, and only when all in front of it
//!   have ended: each takes one off once, so exactly one of them sees the word come to 0,
//!   and it is the last.
//! * G2. What runs a node sees all that those in front of it did. Each decrement is a
//!   release, so the word's history is one release sequence, and the last decrement, an
//!   acquire, sees them all. Spawning hands over what the spawner sees. What lies farther
//!   in front is seen through those.
//!
//! LIVENESS: in a run without a panic every node is started. The edges ascend, so of the
//! nodes that have not been started the first in line waits only for some that have; when
//! the last of them has ended, its word is 0, and who made it so is about to start it. A
//! node that panics takes nothing off, so those behind it are not started; the run ends
//! when what was started has.
//!
//! The words of one run are visible to the next through the end of the scope and the
//! start of the next one's fibers.
//!
//! [`reset`]: Countdown::reset
//! [`ended`]: Countdown::ended

use super::plan::Plan;
use crate::base::mutant::or_relaxed;
use crate::shim::atomic::{AtomicU32, Ordering};

/// The words of one graph, by position.
#[derive(Debug)]
pub(super) struct Countdown {
    left: Box<[AtomicU32]>,
}

impl Countdown {
    pub(super) fn new(plan: &Plan) -> Countdown {
        let words = plan.needs.iter().map(|needs| AtomicU32::new(*needs));
        Countdown {
            left: words.collect(),
        }
    }

    /// Before a run.
    pub(super) fn reset(&mut self, plan: &Plan) {
        for (left, needs) in self.left.iter().zip(&plan.needs) {
            left.store(*needs, Ordering::Relaxed);
        }
    }

    /// The node at `position` has ended: gives `start` each one that may run now, in
    /// line. Once in a run.
    pub(super) fn ended(&self, plan: &Plan, position: u32, mut start: impl FnMut(u32)) {
        for &behind in plan.behind(position) {
            // ORDERING: pairs with itself, by the others in front of `behind` (G2).
            let order = or_relaxed!(Ordering::AcqRel, "graph_node_relaxed");
            if self.left[behind as usize].fetch_sub(1, order) == 1 {
                start(behind);
            }
        }
    }
}
