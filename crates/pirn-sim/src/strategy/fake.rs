//! Choices of no run, for unit tests.

use std::panic::Location;

use pirn::dev::sim::{Choice, Fibers, Operation, Step};

/// The steps of the ready fibers, by index.
pub(crate) struct Fake(pub(crate) Vec<Option<Step>>);

impl Fake {
    pub(crate) fn choice<'a>(
        &'a self,
        ready: &'a [u32],
        last: Option<u32>,
        can_continue: bool,
    ) -> Choice<'a> {
        Choice {
            ready,
            last,
            can_continue,
            put_off: false,
            woken_by_others: false,
            fibers: self,
        }
    }
}

impl Fibers for Fake {
    fn step(&self, index: usize) -> Option<Step> {
        self.0[index]
    }

    fn spawned_at(&self, _: usize) -> &'static Location<'static> {
        Location::caller()
    }

    fn frames(&self, _: usize) -> Vec<String> {
        Vec::new()
    }
}

pub(super) fn step(operation: Operation, object: usize) -> Step {
    Step { operation, object }
}
