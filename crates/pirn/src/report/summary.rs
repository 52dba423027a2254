//! The number of fibers in each state: a report on more fibers than can usefully be listed.

use crate::fiber::state_names::State;
use crate::wait::Reason;

/// Numbers of fibers by state and reason. There are few of both, so a list suffices.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally(Vec<((State, Option<Reason>), usize)>);

impl Tally {
    /// Counts one fiber in this state.
    pub(crate) fn count(&mut self, doing: (State, Option<Reason>)) {
        self.add(doing, 1);
    }

    /// Adds the counts of another tally.
    pub(crate) fn merge(&mut self, other: &Tally) {
        for &(doing, fibers) in &other.0 {
            self.add(doing, fibers);
        }
    }

    /// Returns the states and the number of fibers in each, in the order of first occurrence.
    pub(crate) fn iter(
        &self,
    ) -> impl Iterator<Item = (State, Option<Reason>, usize)> + '_ {
        let flat = |&((state, reason), fibers): &_| (state, reason, fibers);
        self.0.iter().map(flat)
    }

    /// Counts `fibers` more fibers in the state `doing`.
    pub(crate) fn add(&mut self, doing: (State, Option<Reason>), fibers: usize) {
        if fibers == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == doing) {
            Some((_, number)) => *number += fibers,
            None => self.0.push((doing, fibers)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reason, State, Tally};

    #[test]
    fn adds_up() {
        let recv = (State::Parked, Some(Reason::Recv));
        let mut one = Tally::default();
        one.count(recv);
        one.count((State::Runnable, None));
        let mut two = one.clone();
        two.merge(&one);
        two.count(recv);
        let all: Vec<_> = two.iter().collect();
        let ready = (State::Runnable, None, 2);
        assert_eq!(all, [(State::Parked, Some(Reason::Recv), 3), ready]);
    }
}
