//! Arrows between named things, and the rings among them.

use std::collections::{BTreeMap, BTreeSet};

/// The targets of each thing's arrows.
#[derive(Debug, Default)]
pub(super) struct Graph<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> Graph<'a> {
    /// Adds an arrow.
    pub(super) fn add(&mut self, from: &'a str, to: &'a str) {
        self.0.entry(from).or_default().insert(to);
    }

    /// Returns the things at the end of a way of one arrow or more.
    fn reachable(&self, from: &'a str) -> BTreeSet<&'a str> {
        let next = |at| self.0.get(at).into_iter().flatten().copied();
        let mut seen = BTreeSet::new();
        let mut open: Vec<_> = next(from).collect();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(next(at));
            }
        }
        seen
    }

    /// Returns the strongly connected components with an arrow inside.
    pub(super) fn rings(&self) -> Vec<BTreeSet<&'a str>> {
        let reachable = |from: &&'a str| (*from, self.reachable(from));
        let ways: BTreeMap<_, _> = self.0.keys().map(reachable).collect();
        let leads_to =
            |from: &str, to: &str| ways.get(from).is_some_and(|w| w.contains(to));
        let mut rings: Vec<BTreeSet<&str>> = Vec::new();
        for (from, way) in &ways {
            let is_new = !rings.iter().any(|ring| ring.contains(from));
            if is_new && way.contains(from) {
                let ring = way.iter().copied().filter(|to| leads_to(to, from));
                rings.push(ring.collect());
            }
        }
        rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_apart_from_what_they_name() {
        let mut graph = Graph::default();
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "a")] {
            graph.add(from, to);
        }
        assert_eq!(graph.rings(), [BTreeSet::from(["a", "b", "c"])]);
    }
}
