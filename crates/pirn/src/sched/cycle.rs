//! Fibers that wait for each other in a circle.
//!
//! Pure: from links that a roll call has brought to circles. Does not own: who looks, when, or
//! what is done about it (`watch`).
//!
//! A link says that one fiber goes on only after another has done something: freed a lock that it
//! has, or ended. (A fiber that waits for a scope has a link to every child of it that waits.) A
//! wait that has a time limit makes none, nor does one that several could end.
//!
//! Links are read one after the other, so a circle of one reading proves nothing. One that two
//! readings show with the same waits does: each of its fibers was in that one wait from when it
//! was read first to when it was read last, and those times overlap; and who had a lock before
//! its wait and after it has not freed it meanwhile, since it did not run. What may still end
//! such a wait is a cancellation from outside.

use std::collections::HashMap;

/// What one fiber waits for, if that is another's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    /// The fiber's number.
    pub(super) id: u64,
    /// Which of its waits this is.
    pub(super) wait: u64,
    /// The address of the scope that it is a child of, or 0.
    pub(super) scope: usize,
    pub(super) on: On,
}

/// Whom a fiber waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// The fiber with this number.
    Fiber(u64),
    /// The children of the scope at this address.
    Scope(usize),
}

/// Fibers each of which waits for the next, and the last for the first: numbers of fibers and
/// of their waits, the least fiber first.
pub(super) type Circle = Vec<(u64, u64)>;

/// Circles in `links`: one at least if there is any.
pub(super) fn circles(links: &[Link]) -> Vec<Circle> {
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
        // Each with how many of its successors have been looked at.
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
                    let circle = &path[begin.expect("it is on the path")..];
                    found.push(from_least(circle.iter().map(|&(i, _)| &links[i])));
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

fn from_least<'a>(links: impl Iterator<Item = &'a Link>) -> Circle {
    let mut circle: Circle = links.map(|link| (link.id, link.wait)).collect();
    let least = (0..circle.len()).min_by_key(|&i| circle[i]);
    circle.rotate_left(least.unwrap_or(0));
    circle
}
