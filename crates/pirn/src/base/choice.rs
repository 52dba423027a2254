//! The choices of a deterministic scheduler, as traits: the strategies are not in this crate.

use std::panic::Location;

/// A strategy: which of the ready fibers runs next.
pub trait Choose {
    /// Returns the index in `ready` of the fiber that runs next.
    ///
    /// The fibers stand in the order in which they became ready, each as its number in the run: the
    /// first one that became ready is 0. `last` is the number of the fiber that ran last, if any
    /// has run; if it is in `ready`, it could go on. `fibers` describes those in `ready`, for
    /// reports.
    fn choose(&mut self, ready: &[u32], last: Option<u32>, fibers: &dyn Fibers) -> usize;
}

/// The ready fibers at a choice, by index.
pub trait Fibers {
    /// Returns where the fiber was spawned.
    fn spawned_at(&self, index: usize) -> &'static Location<'static>;

    /// Returns the user's frames of a fiber, innermost first: function and place of each. None if
    /// it has not run yet, or the program has no debug information. Takes milliseconds.
    fn frames(&self, index: usize) -> Vec<String>;
}
