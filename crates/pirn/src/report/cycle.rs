//! Fibers that wait for each other in a cycle.
//!
//! Pure: computes cycles from the links of a pass. Does not own: the passes
//! (`observe::deadlock::search`), or what is done about a cycle (`observe::deadlock::detector`).
//!
//! A link says that one fiber resumes only after another has done something: released a lock that
//! it holds, or ended. (A fiber that waits for a scope has a link to every child of it that waits.)
//! A wait that has a time limit makes none, nor does one that several fibers could end.
//!
//! Links are read one after the other, so a cycle in one reading proves nothing. A cycle that two
//! readings show with the same waits is real. Each of its fibers was in that one wait from its
//! first reading to its last, and those times overlap. A fiber that held a lock before its wait and
//! after it has not released it meanwhile, since it did not run. Only a cancellation from outside
//! may still end such a wait.

use std::collections::HashMap;

/// The wait of one fiber for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The fiber's number.
    pub(crate) id: u64,
    /// The number of its wait.
    pub(crate) wait: u64,
    /// The address of the scope that it is a child of, or 0.
    pub(crate) scope: usize,
    pub(crate) on: On,
}

/// Which fiber, or fibers, a fiber waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// The fiber with this number.
    Fiber(u64),
    /// The children of the scope at this address.
    Scope(usize),
}

/// Fibers each of which waits for the next, and the last for the first: numbers of fibers and of
/// their waits, starting at the least fiber.
pub(crate) type Cycle = Vec<(u64, u64)>;

/// Returns cycles in `links`: at least one if there is any.
pub(crate) fn cycles(links: &[Link]) -> Vec<Cycle> {
    let by_id: HashMap<u64, usize> =
        links.iter().enumerate().map(|(i, l)| (l.id, i)).collect();
    let mut by_scope: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, link) in links.iter().enumerate() {
        by_scope.entry(link.scope).or_default().push(index);
    }
    let successors = |index: usize| -> &[usize] {
        match &links[index].on {
            On::Fiber(id) => by_id.get(id).map_or(&[], std::slice::from_ref),
            On::Scope(scope) => by_scope.get(scope).map_or(&[], Vec::as_slice),
        }
    };
    let mut marks = vec![Mark::New; links.len()];
    let mut found = Vec::new();
    for start in 0..links.len() {
        // Each with the number of its successors that have been looked at.
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut next = (marks[start] == Mark::New).then_some(start);
        loop {
            if let Some(index) = next.take() {
                marks[index] = Mark::OnPath;
                path.push((index, 0));
            }
            let Some((index, seen)) = path.last_mut() else {
                break;
            };
            let Some(&successor) = successors(*index).get(*seen) else {
                marks[*index] = Mark::Done;
                path.pop();
                continue;
            };
            *seen += 1;
            match marks[successor] {
                Mark::New => next = Some(successor),
                Mark::OnPath => {
                    let begin = path.iter().position(|&(index, _)| index == successor);
                    let cycle = &path[begin.expect("it is on the path")..];
                    found.push(from_least(cycle.iter().map(|&(i, _)| &links[i])));
                }
                Mark::Done => {}
            }
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    OnPath,
    Done,
}

fn from_least<'a>(links: impl Iterator<Item = &'a Link>) -> Cycle {
    let mut cycle: Cycle = links.map(|link| (link.id, link.wait)).collect();
    let least = (0..cycle.len()).min_by_key(|&i| cycle[i]);
    cycle.rotate_left(least.unwrap_or(0));
    cycle
}
