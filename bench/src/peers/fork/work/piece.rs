//! What the timing knows of a work.

use super::super::library::Library;

/// One work, done again in every round.
pub(in crate::peers::fork) trait Work: Send {
    /// Forgets the last answer; not timed.
    fn prepare(&mut self);

    /// Does it.
    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>);

    /// Looks whether the answer is there and right; not timed.
    ///
    /// # Panics
    /// If it is not.
    fn check(&self);

    /// How many joins it makes, where the work between them is next to nothing.
    fn joins(&self) -> Option<u64> {
        None
    }
}
