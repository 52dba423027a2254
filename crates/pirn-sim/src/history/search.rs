//! The search for an order of the operations on one part of an object.
//!
//! It is Wing and Gong's search (JPDC 1993). A *configuration* is the set of operations that are
//! ordered already, and the state after them. The next operation is one that was invoked before the
//! first return of all operations that are not ordered. Lowe's addition (CCPE 2017) is a set of the
//! configurations that have been visited: what follows depends on nothing else. The linked list is
//! that of Horn and Kroening (FORTE 2015). An operation without a result may be ordered with any
//! result, or left out.
//!
//! Published checkers lack a part of this. `todc-utils` and `porcupine-rs` need a result of each
//! operation, `stateright` visits configurations again and has no parts, `lincheck` runs the
//! operations itself.
//!
//! Does not own: parts and prefixes (`prefix`).

use std::cmp::Reverse;
use std::collections::HashSet;

use super::call::Call;
use super::model::Model;

/// Looks for an order of `calls`, in the order of their invocations, as they were before the event
/// `until`.
///
/// # Errors
/// If there is none: the first return that no order reaches. All events before it have an order.
pub(super) fn search<M: Model>(calls: &[&Call<M>], until: usize) -> Result<(), usize> {
    let invoked = calls.partition_point(|call| call.invoked < until);
    let calls = &calls[..invoked];
    let mut search = Search::new(calls, until);
    let state = M::init();
    let mut levels = vec![Level {
        ordered: None,
        steps: search.steps(&state),
    }];
    while search.missing > 0 {
        let Some(level) = levels.last_mut() else {
            return Err(search.reached);
        };
        match level.steps.pop() {
            Some((call, state)) => {
                search.order(call);
                let is_new = search
                    .visited
                    .insert((search.ordered.clone(), state.clone()));
                let steps = match is_new {
                    true => search.steps(&state),
                    false => Vec::new(),
                };
                levels.push(Level {
                    ordered: Some(call),
                    steps,
                });
            }
            None => {
                if let Some(call) = levels.pop().and_then(|level| level.ordered) {
                    search.take_back(call);
                }
            }
        }
    }
    Ok(())
}

/// A configuration on the path of the search.
struct Level<S> {
    /// The last operation that was ordered; none in the first configuration.
    ordered: Option<usize>,
    /// Operations that have not been tried here, each with the state after it. The last one is
    /// next.
    steps: Vec<(usize, S)>,
}

struct Search<'a, M: Model> {
    calls: &'a [&'a Call<M>],
    until: usize,
    /// The operations that are not ordered.
    rest: Rest,
    /// A bit for each operation that is ordered.
    ordered: Vec<u64>,
    /// The number of operations with a result that are not ordered.
    missing: usize,
    visited: HashSet<(Vec<u64>, M::State)>,
    /// The latest event that was the first return in a configuration.
    reached: usize,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(calls: &'a [&'a Call<M>], until: usize) -> Search<'a, M> {
        let with_result = calls.iter().filter(|call| call.returned(until).is_some());
        Search {
            calls,
            until,
            rest: Rest::new(calls.len()),
            ordered: vec![0; calls.len().div_ceil(64)],
            missing: with_result.count(),
            visited: HashSet::new(),
            reached: 0,
        }
    }

    /// Returns the operations that may be next in `state`, with the states after them.
    fn steps(&mut self, state: &M::State) -> Vec<(usize, M::State)> {
        let mut first_return = usize::MAX;
        let mut next = Vec::new();
        for call in self.rest.iter() {
            if self.calls[call].invoked > first_return {
                break;
            }
            let returned = self.return_of(call);
            first_return = first_return.min(returned);
            next.push((Reverse(returned), call));
        }
        if first_return != usize::MAX {
            self.reached = self.reached.max(first_return);
        }
        // The one that returned first is tried first: most orders are like that. One without a
        // result is tried last.
        next.sort_unstable();
        let mut steps = Vec::new();
        for (_, index) in next {
            let call = self.calls[index];
            let outcomes = M::step(state, &call.op).into_iter();
            match call.returned(self.until) {
                Some((_, ret)) => {
                    let expected = outcomes.filter(|(possible, _)| possible == ret);
                    steps.extend(expected.map(|(_, after)| (index, after)));
                }
                // Without a result and an effect it can as well be left out.
                None => {
                    let effects = outcomes.filter(|(_, after)| after != state);
                    steps.extend(effects.map(|(_, after)| (index, after)));
                }
            }
        }
        steps
    }

    fn return_of(&self, call: usize) -> usize {
        let returned = self.calls[call].returned(self.until);
        returned.map_or(usize::MAX, |(at, _)| at)
    }

    fn order(&mut self, call: usize) {
        self.rest.unlink(call);
        self.ordered[call / 64] |= 1 << (call % 64);
        self.missing -= usize::from(self.return_of(call) != usize::MAX);
    }

    /// Undoes the last `order`.
    fn take_back(&mut self, call: usize) {
        self.missing += usize::from(self.return_of(call) != usize::MAX);
        self.ordered[call / 64] &= !(1 << (call % 64));
        self.rest.relink(call);
    }
}

/// A list of the numbers below `len`. Each can be unlinked. The last unlinked one can be linked
/// again.
struct Rest {
    /// The numbers after and before each one; `len` stands for both ends.
    next: Vec<usize>,
    previous: Vec<usize>,
}

impl Rest {
    fn new(len: usize) -> Rest {
        let ring = len + 1;
        Rest {
            next: (0..ring).map(|it| (it + 1) % ring).collect(),
            previous: (0..ring).map(|it| (it + len) % ring).collect(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let end = self.next.len() - 1;
        let mut at = end;
        std::iter::from_fn(move || {
            at = self.next[at];
            (at != end).then_some(at)
        })
    }

    fn unlink(&mut self, it: usize) {
        let (previous, next) = (self.previous[it], self.next[it]);
        self.next[previous] = next;
        self.previous[next] = previous;
    }

    fn relink(&mut self, it: usize) {
        let (previous, next) = (self.previous[it], self.next[it]);
        self.next[previous] = it;
        self.previous[next] = it;
    }
}
