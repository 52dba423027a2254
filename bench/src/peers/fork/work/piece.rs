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
