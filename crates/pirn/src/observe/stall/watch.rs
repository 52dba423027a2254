//! The search for stalls as an observer of one pool.

use std::sync::Arc;

use super::counts::StallCounts;
use super::look::Stalls;
use crate::sched::observer::{Look, Observer};
use crate::sched::pool::shared::Pool;

/// The search for stalls in one pool.
pub(in crate::observe) struct StallWatch {
    counts: Arc<StallCounts>,
}

impl StallWatch {
    pub(in crate::observe) fn new() -> StallWatch {
        StallWatch {
            counts: Arc::default(),
        }
    }
}

/// Returns the counts of stalls in `pool`.
pub(in crate::observe) fn counts(pool: &Pool) -> &StallCounts {
    &pool.observer::<StallWatch>().counts
}

impl Observer for StallWatch {
    fn monitor(&self, pool: &Pool) -> Option<Look> {
        let mut stalls = Stalls::of(pool, &self.counts)?;
        Some(Box::new(move |pool| stalls.look(pool)))
    }
}
