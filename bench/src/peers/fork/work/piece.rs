//! The interface of a workload for the timing.

use super::super::library::Library;

/// One workload, repeated in every round.
pub(in crate::peers::fork) trait Work: Send {
    /// Clears the last answer; not timed.
    fn prepare(&mut self);

    /// Runs it.
    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>);

    /// Checks that the answer exists and is correct; not timed.
    ///
    /// # Panics
    /// If it is not.
    fn check(&self);

    /// Returns the number of its joins, if the work between them is negligible.
    fn joins(&self) -> Option<u64> {
        None
    }
}

/// Work with one number as its answer.
pub(in crate::peers::fork) trait Count: Send {
    /// Returns the answer; not timed.
    fn expected(&self) -> u64;

    /// Computes the answer.
    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64;

    /// As [`Work::joins`].
    fn joins(&self) -> Option<u64> {
        None
    }
}

/// Such work, its answer and the expected one.
pub(in crate::peers::fork) struct Counted<C> {
    work: C,
    expected: u64,
    answer: Option<u64>,
}

impl<C: Count> Counted<C> {
    /// Returns the work without an answer.
    pub(in crate::peers::fork) fn new(work: C) -> Counted<C> {
        Counted {
            expected: work.expected(),
            work,
            answer: None,
        }
    }
}

impl<C: Count> Work for Counted<C> {
    fn prepare(&mut self) {
        self.answer = None;
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        self.answer = Some(self.work.count::<L>(scope));
    }

    fn check(&self) {
        assert_eq!(self.answer, Some(self.expected));
    }

    fn joins(&self) -> Option<u64> {
        self.work.joins()
    }
}
