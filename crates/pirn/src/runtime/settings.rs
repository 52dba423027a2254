//! The settings of a builder, by theme.

use std::sync::Arc;
use std::time::Duration;

use crate::observe::{Deadlock, Trial};

/// How many idle stacks keep their memory before it is released. Arbitrary: a few MiB when each has
/// touched some pages; not measured yet.
const STACK_CACHE: usize = 256;

/// The default for how long virtual time is held for a descriptor. Arbitrary: far more than a
/// thread needs to respond on a loaded machine, and acceptable to a reader of the test's output.
const OUTSIDE_LIMIT: Duration = Duration::from_secs(1);

/// The default for how long no fiber may run in a test. Arbitrary: far more than a thread waits for
/// a lock that is released at all.
const STUCK_LIMIT: Duration = Duration::from_secs(10);

/// A hook on the thread of a worker.
type Hook = Arc<dyn Fn() + Send + Sync>;

/// The settings of the workers and their threads.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) workers: Option<usize>,
    pub(super) most: Option<usize>,
    pub(super) pinned: bool,
    /// If set, each worker has one fiber at a time, and its thread ends after this time without
    /// one.
    pub(super) one_fiber_each: Option<Duration>,
    pub(super) on_start: Option<Hook>,
    pub(super) on_stop: Option<Hook>,
}

/// The settings of stacks.
pub(super) struct Stacks {
    pub(super) size: Option<usize>,
    pub(super) cache: usize,
    pub(super) most: usize,
    /// The number of stacks with memory to create at the start, with the threads of all workers.
    pub(super) prewarm: Option<usize>,
}

/// The settings of a builder for tests.
pub(super) struct Testing {
    pub(super) outside_limit: Duration,
    pub(super) stuck_limit: Duration,
    /// The name of the test to which the runtime belongs.
    pub(super) name: Option<String>,
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks {
            size: None,
            cache: STACK_CACHE,
            most: usize::MAX,
            prewarm: None,
        }
    }
}

impl Default for Testing {
    fn default() -> Testing {
        Testing {
            outside_limit: OUTSIDE_LIMIT,
            stuck_limit: STUCK_LIMIT,
            name: None,
        }
    }
}

impl Testing {
    pub(super) fn trial(self, seed: u64, deadlock: Deadlock) -> Option<Trial> {
        let limit = self.stuck_limit;
        self.name
            .map(|name| Trial::new(name, seed, limit, deadlock))
    }
}
