//! The line of a graph's nodes: the smallest topological order of the explicit orders,
//! with nodes numbered as they were added. Kahn's algorithm with a heap: n nodes and e
//! edges take O((n + e) log n). Owns nothing else; cycles belong to `cycle`.
//!
//! Rejected: of two nodes that conflict, the one added first always runs first. An
//! explicit order against that would then be reported as a cycle. With a third node that
//! conflicts with both, the reported cycle would contain implicit edges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cycle::cycle;

/// Returns the nodes 0 to `n` - 1 in line. Each of `edges` is a node and a successor.
///
/// # Errors
/// The nodes of a cycle.
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
    // A node that still waits, waits for one that waits too.
    let mut before = vec![None; n];
    let still = |edge: &&(u32, u32)| waits[edge.0 as usize] > 0;
    for &(front, back) in edges.iter().filter(still) {
        before[back as usize] = Some(front);
    }
    Err(cycle(stuck as u32, |node| {
        before[node as usize].expect("a node that is stuck waits for one that is")
    }))
}
