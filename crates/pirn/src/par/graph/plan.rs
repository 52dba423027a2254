//! The edges between nodes, derived once from accesses and orders, and used by every run.
//!
//! Owns: the edges. Does not own: the line (`line`), or how far a run has come
//! (`countdown`).
//!
//! Nodes are named by their positions in line here. Edges lead backwards in line, so
//! there is no cycle. Edges that follow from others are mostly left out: a reader of a
//! resource waits for its last writer only, and a writer for the readers since then.

use std::collections::HashMap;

use super::access::{Access, Resource, Use};
use super::line::line_up;

/// Which nodes wait for which.
#[derive(Debug)]
pub(super) struct Plan {
    /// The node at each position.
    pub(super) line: Vec<u32>,
    /// For each position, the number of direct predecessors.
    pub(super) needs: Vec<u32>,
    /// The start of each position's list in `behind`; one more for the end of the last.
    begins: Vec<u32>,
    /// The successors of each position, ascending.
    behind: Vec<u32>,
}

/// The users of a resource, down the line to here.
#[derive(Default)]
struct Users {
    writer: Option<u32>,
    /// The readers since the last writer.
    readers: Vec<u32>,
}

impl Plan {
    /// Creates the plan for nodes with these accesses, and with further explicit edges.
    ///
    /// # Errors
    /// The nodes of a cycle.
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

    /// Creates the plan of ascending edges between positions.
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

    /// Returns the successors of this position, ascending.
    pub(super) fn behind(&self, position: u32) -> &[u32] {
        let begin = self.begins[position as usize] as usize;
        let end = self.begins[position as usize + 1] as usize;
        &self.behind[begin..end]
    }

    /// Returns the positions without predecessors, ascending.
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
