//! From what nodes say to who waits for whom: found once, and used by every run.
//!
//! Owns: the edges. Does not own: the line (`line`), or how far a run has come
//! (`countdown`).
//!
//! Nodes are named by their positions in line here. Edges lead backwards in line, so
//! there is no circle. Edges that follow from others are mostly left out: who reads a
//! resource waits for its last writer only, and who writes it for those who have read it
//! since.

use std::collections::HashMap;

use super::access::{Access, Resource, Use};
use super::line::line_up;

/// Who waits for whom.
#[derive(Debug)]
pub(super) struct Plan {
    /// The node at each position.
    pub(super) line: Vec<u32>,
    /// For each position, for how many others right in front it waits.
    pub(super) needs: Vec<u32>,
    /// Where the list of each position begins in `behind`; one more for the end of the
    /// last.
    begins: Vec<u32>,
    /// The positions that wait for each, ascending.
    behind: Vec<u32>,
}

/// Who has used a resource, down the line to here.
#[derive(Default)]
struct Users {
    writer: Option<u32>,
    /// Since then.
    readers: Vec<u32>,
}

impl Plan {
    /// The plan for nodes with these accesses, and with more explicit edges.
    ///
    /// # Errors
    /// Nodes in a circle.
    pub(super) fn new(
        accesses: &[Access],
        orders: &[(u32, u32)],
    ) -> Result<Plan, Vec<u32>> {
        let mut explicit = orders.to_vec();
        for (node, access) in (0..).zip(accesses) {
            explicit.extend(access.after.iter().map(|before| (before.0, node)));
        }
        let line = line_up(accesses.len(), &explicit)?;
        let mut position = vec![0; line.len()];
        for (at, node) in (0..).zip(&line) {
            position[*node as usize] = at;
        }
        let at = |node: u32| position[node as usize];
        let mut edges: Vec<_> = explicit.iter().map(|(a, b)| (at(*a), at(*b))).collect();
        implied(accesses, &line, &mut edges);
        edges.sort_unstable();
        edges.dedup();
        Ok(Plan::of_edges(line, &edges))
    }

    /// The plan of ascending edges between positions.
    pub(super) fn of_edges(line: Vec<u32>, edges: &[(u32, u32)]) -> Plan {
        let n = line.len();
        let mut needs = vec![0; n];
        let mut begins = vec![0; n + 1];
        for &(front, back) in edges {
            needs[back as usize] += 1;
            begins[front as usize + 1] += 1;
        }
        for front in 0..n {
            begins[front + 1] += begins[front];
        }
        Plan {
            line,
            needs,
            begins,
            behind: edges.iter().map(|(_, back)| *back).collect(),
        }
    }

    /// The positions that wait for this one, ascending.
    pub(super) fn behind(&self, position: u32) -> &[u32] {
        let begin = self.begins[position as usize] as usize;
        let end = self.begins[position as usize + 1] as usize;
        &self.behind[begin..end]
    }

    /// The positions that wait for nobody, ascending.
    pub(super) fn first(&self) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(&self.needs)
            .filter(|(_, needs)| **needs == 0)
            .map(|(position, _)| position)
    }
}

/// Adds the edges between positions that conflict.
fn implied(accesses: &[Access], line: &[u32], edges: &mut Vec<(u32, u32)>) {
    let mut users: HashMap<&Resource, Users> = HashMap::new();
    for (position, node) in (0..).zip(line) {
        for (resource, usage) in &accesses[*node as usize].uses {
            let users = users.entry(resource).or_default();
            let mut wait_for = |front: u32| {
                if front != position {
                    edges.push((front, position));
                }
            };
            match usage {
                Use::Read => {
                    users.writer.into_iter().for_each(&mut wait_for);
                    users.readers.push(position);
                }
                Use::Write if users.readers.is_empty() => {
                    users.writer.into_iter().for_each(&mut wait_for);
                    users.writer = Some(position);
                }
                Use::Write => {
                    users.readers.drain(..).for_each(&mut wait_for);
                    users.writer = Some(position);
                }
            }
        }
    }
}
