//! The number of nodes that each node still waits for in a run, and which node starts
//! which other.
//!
//! Owns: the words. Does not own: how a node is run (`run`).
//!
//! Protocol. Each node has a word: the number of its direct predecessors that have not
//! ended. The caller of the run sets all words before any node runs ([`reset`]), and
//! starts the nodes with the word 0. When a node has ended, its fiber decrements the word
//! of each direct successor ([`ended`]). The fiber that brings a word to 0 starts that
//! node, by running it or by spawning a fiber that does.
//!
//! # Invariants
//! * G1. In one run, a node is started at most once, and only when all its predecessors
//!   have ended. Each decrements once, so exactly one of them brings the word to 0, and
//!   it is the last.
//! * G2. A node sees all effects of its predecessors. Each decrement is a release, so the
//!   word's history is one release sequence, and the last decrement, an acquire, sees
//!   them all. Spawning passes on what the spawning fiber sees. Indirect predecessors are
//!   seen through the direct ones.
//!
//! LIVENESS: in a run without a panic every node is started. The edges ascend, so the
//! first unstarted node in line waits only for started ones. When the last of them has
//! ended, its word is 0, and the fiber that made it 0 is about to start it. A node that
//! panics decrements nothing, so its successors are not started. The run ends when all
//! started nodes have ended.
//!
//! The words of one run are visible to the next through the end of the scope and the
//! start of the next run's fibers.
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

    /// Sets all words before a run.
    pub(super) fn reset(&mut self, plan: &Plan) {
        for (left, needs) in self.left.iter().zip(&plan.needs) {
            left.store(*needs, Ordering::Relaxed);
        }
    }

    /// Records that the node at `position` has ended. Calls `start` with each node that
    /// may run now, in line order. Called once for each node in a run.
    pub(super) fn ended(&self, plan: &Plan, position: u32, mut start: impl FnMut(u32)) {
        for &behind in plan.behind(position) {
            // ORDERING: pairs with itself, by the other predecessors of `behind` (G2).
            let order = or_relaxed!(Ordering::AcqRel, "graph_node_relaxed");
            if self.left[behind as usize].fetch_sub(1, order) == 1 {
                start(behind);
            }
        }
    }
}
