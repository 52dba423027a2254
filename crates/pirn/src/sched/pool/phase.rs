//! The phases of a pool's life, each entered once and in this order:
//!
//! | phase | entered by | new fibers from outside | new fibers from fibers | started fibers |
//! |---|---|---|---|---|
//! | Open | birth | yes | yes | run |
//! | Draining | drop of the runtime | no | yes | run |
//! | Cancelled | `shutdown` | no | no | run, every interruptible wait refused |
//! | Stopped | when nothing is left, or the time is up | no | no | continue, on workers that are not waited for |

use std::sync::Arc;

use crate::fiber::token::Node;
use crate::shim::atomic::{AtomicU32, Ordering};

/// The phase of the pool's life.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Phase {
    Open = 0,
    Draining = 1,
    Cancelled = 2,
    Stopped = 3,
}

/// How far a pool has got, and the token that ends it.
pub(in crate::sched) struct Life {
    phase: AtomicU32,
    /// The cancellation token above everything that runs here.
    root: Arc<Node>,
}

impl Life {
    pub(in crate::sched) fn new() -> Life {
        Life {
            phase: AtomicU32::new(Phase::Open as u32),
            root: Node::below([None, None]),
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn phase(&self) -> Phase {
        // ORDERING: SeqCst: pairs with the SeqCst count of fibers from outside, see `Pool::admit`.
        match self.phase.load(Ordering::SeqCst) {
            0 => Phase::Open,
            1 => Phase::Draining,
            2 => Phase::Cancelled,
            _ => Phase::Stopped,
        }
    }

    /// Advances the phase, never back.
    pub(in crate::sched) fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u32, Ordering::SeqCst);
    }

    /// Returns the token above everything that runs here.
    pub(in crate::sched) fn root(&self) -> &Arc<Node> {
        &self.root
    }
}
