//! The observers that every pool has.

use std::any::Any;

use super::deadlock::{Deadlock, Detector, Trial};
use super::report::Snapshots;
use super::stall::StallWatch;
use crate::sched::observer::Observers;

/// Returns the observers of a new pool: how it responds to deadlocks, and the test that it belongs
/// to, if it does.
pub(crate) fn observers(
    deadlock: Deadlock,
    trial: Option<Trial>,
) -> Box<dyn Any + Send + Sync> {
    Observers::boxed(vec![
        Box::new(Snapshots::new()),
        Box::new(StallWatch::new()),
        Box::new(Detector::new(deadlock, trial)),
    ])
}
