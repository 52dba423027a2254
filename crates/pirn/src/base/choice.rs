//! The choices of a deterministic scheduler, as traits: the strategies are not in this crate.

use std::fmt;
use std::panic::Location;

/// A strategy: which of the ready fibers runs next.
pub trait Choose {
    /// Returns the index in `choice.ready` of the fiber that runs next.
    fn choose(&mut self, choice: &Choice<'_>) -> usize;
}

/// One choice.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The ready fibers in the order in which they became ready, each as its number in the run: the
    /// first one that became ready is 0. There is at least one.
    pub ready: &'a [u32],
    /// The number of the fiber that ran last, if any has run.
    pub last: Option<u32>,
    /// That fiber is ready, and has not asked for others to run: it could go on.
    pub goes_on: bool,
    /// Describes those in `ready`, for reports.
    pub fibers: &'a dyn Fibers,
}

/// The ready fibers at a choice, by index.
pub trait Fibers {
    /// Returns where the fiber was spawned.
    fn spawned_at(&self, index: usize) -> &'static Location<'static>;

    /// Returns the user's frames of a fiber, innermost first: function and place of each. None if
    /// it has not run yet, or the program has no debug information. Takes milliseconds.
    fn frames(&self, index: usize) -> Vec<String>;
}

impl fmt::Debug for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("ready", &self.ready)
            .field("last", &self.last)
            .field("goes_on", &self.goes_on)
            .finish_non_exhaustive()
    }
}
