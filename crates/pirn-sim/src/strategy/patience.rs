//! Fairness for strategies that have priorities.

use pirn::dev::sim::Choice;

/// Finds a fiber that has been ready for [`MOST`] choices without running: others may wait for it
/// in a loop.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// The fiber that has been ready for longest, and for how many choices.
    first: Option<u32>,
    choices: u32,
}

impl Patience {
    /// Returns true if the first fiber of `choice.ready` is to run.
    pub(super) fn is_over(&mut self, choice: &Choice<'_>) -> bool {
        let first = choice.ready.first().copied();
        if first != self.first {
            self.first = first;
            self.choices = 0;
        }
        self.choices += 1;
        self.choices > MOST
    }
}

/// Arbitrary: in tests hardly any fiber is ready for as long in a schedule that matters.
const MOST: u32 = 500;
