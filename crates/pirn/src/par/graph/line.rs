//! The line that a graph's nodes stand in: the smallest topological order of what was
//! said explicitly, nodes counted as they were added (Kahn's algorithm with a heap; n
//! nodes and e edges take O((n + e) log n)). Owns nothing else; what goes in a circle is
//! `cycle`'s.
//!
//! Rejected: that of two nodes which conflict the one added first always runs first. Who
//! has one of them come after the other would then be told of a cycle, and with a third
//! node that conflicts with both of one in which he had no part.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cycle::circle;

/// Returns the nodes 0 to `n` - 1 in line, when each of `edges` is a node and one behind
/// it.
///
/// # Errors
/// A circle of edges.
pub(super) fn line_up(n: usize, edges: &[(u32, u32)]) -> Result<Vec<u32>, Vec<u32>> {
    let mut waits = vec![0_usize; n];
    let mut behind = vec![Vec::new(); n];
    for &(front, back) in edges {
        waits[back as usize] += 1;
        behind[front as usize].push(back);
    }
    let mut line = Vec::with_capacity(n);
    let free = (0..n as u32).filter(|node| waits[*node as usize] == 0);
    let mut ready: BinaryHeap<_> = free.map(Reverse).collect();
    while let Some(Reverse(node)) = ready.pop() {
        line.push(node);
        for &back in &behind[node as usize] {
            waits[back as usize] -= 1;
            if waits[back as usize] == 0 {
                ready.push(Reverse(back));
            }
        }
    }
    let Some(stuck) = waits.iter().position(|waits| *waits > 0) else {
        return Ok(line);
    };
    // Who waits still, waits for one that does.
    let mut before = vec![None; n];
    let still = |edge: &&(u32, u32)| waits[edge.0 as usize] > 0;
    for &(front, back) in edges.iter().filter(still) {
        before[back as usize] = Some(front);
    }
    Err(circle(stuck as u32, |node| {
        before[node as usize].expect("a node that is stuck waits for one that is")
    }))
}
