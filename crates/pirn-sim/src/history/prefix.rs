//! Parts of an object, and the smallest prefix of a history that has no order.
//!
//! Owns: both. Does not own: the search (`search`), the picture of the prefix (`timeline`).
//!
//! A history has an order exactly if its operations on each part have one (Herlihy, Wing:
//! Linearizability, TOPLAS 1990, theorem 1). If a history has an order, each prefix has one, so a
//! binary search finds the smallest prefix that has none. A prefix ends with a return: an
//! invocation alone takes no order away.

use std::collections::HashMap;

use super::call::Call;
use super::model::Model;
use super::search::search;
use super::timeline::NotLinearizable;

/// As [`History::check`](super::History::check); `calls` are in the order of their invocations.
pub(super) fn check<M: Model>(calls: &[Call<M>]) -> Result<(), NotLinearizable> {
    let mut parts = HashMap::new();
    for call in calls {
        let part: &mut Vec<_> = parts.entry(M::partition(&call.op)).or_default();
        part.push(call);
    }
    let mut until = usize::MAX;
    let mut failed = None;
    for part in parts.values() {
        if let Some(shorter) = smallest(part, until) {
            until = shorter;
            failed = Some(part);
        }
    }
    match failed {
        Some(part) => Err(NotLinearizable::new(part, until)),
        None => Ok(()),
    }
}

/// Returns the end of the smallest prefix without an order, if the events before `until` have none:
/// the number of the event after it.
fn smallest<M: Model>(calls: &[&Call<M>], until: usize) -> Option<usize> {
    let reached = search(calls, until).err()?;
    // This is the answer, unless an operation that returns later explains the return, if only it
    // had another result.
    if search(calls, reached + 1).is_err() {
        return Some(reached + 1);
    }
    let returns = calls.iter().filter_map(|call| call.returned(until));
    let later = returns
        .map(|(at, _)| at + 1)
        .filter(|end| *end > reached + 1);
    let mut ends: Vec<usize> = later.collect();
    ends.sort_unstable();
    let index = ends.partition_point(|end| search(calls, *end).is_ok());
    ends.get(index).copied()
}
