//! Work with one number as its answer: Fibonacci, a tree, a sum, a frame.

use std::hint::black_box;
use std::ops::Range;

use super::super::library::Library;
use super::Count;

/// One number of the sequence of Fibonacci: a join for every addition.
pub(in crate::peers::fork) struct Fib {
    index: u64,
    number: u64,
}

impl Fib {
    /// The largest one that takes at most `joins`: to compute `fib(i)` takes `fib(i + 1) - 1`.
    pub(in crate::peers::fork) fn new(joins: u64) -> Fib {
        let (mut index, mut number, mut next) = (1, 1, 1);
        while number + next - 1 <= joins {
            (number, next) = (next, number + next);
            index += 1;
        }
        Fib { index, number }
    }
}

impl Count for Fib {
    fn expected(&self) -> u64 {
        self.number
    }

    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64 {
        fib::<L>(scope, self.index)
    }

    fn joins(&self) -> Option<u64> {
        let (mut number, mut next) = (1, 1);
        for _ in 1..self.index {
            (number, next) = (next, number + next);
        }
        Some((next - 1).max(1))
    }
}

fn fib<L: Library>(scope: &mut L::Scope<'_>, index: u64) -> u64 {
    if index < 2 {
        return index;
    }
    let (a, b) = L::join(
        scope,
        |scope| fib::<L>(scope, index - 1),
        |scope| fib::<L>(scope, index - 2),
    );
    a + b
}

/// A balanced tree of boxed nodes.
pub(in crate::peers::fork) struct Tree {
    root: Box<Node>,
    nodes: u64,
}

struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Tree {
    /// Returns the full levels of at most `nodes` nodes. They are in memory level by level, so a
    /// walk from the right is as fast as one from the left.
    pub(in crate::peers::fork) fn new(nodes: u64) -> Tree {
        let levels = (nodes + 1).ilog2();
        let mut root = Node::leaf();
        (1..levels).for_each(|_| root.grow());
        Tree {
            root,
            nodes: (1 << levels) - 1,
        }
    }
}

impl Count for Tree {
    fn expected(&self) -> u64 {
        self.nodes
    }

    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64 {
        sum::<L>(scope, &self.root)
    }
}

impl Node {
    fn leaf() -> Box<Node> {
        Box::new(Node {
            value: 1,
            left: None,
            right: None,
        })
    }

    /// Adds children to the lowest nodes.
    fn grow(&mut self) {
        for child in [&mut self.left, &mut self.right] {
            match child {
                Some(child) => child.grow(),
                None => *child = Some(Node::leaf()),
            }
        }
    }
}

fn sum<L: Library>(scope: &mut L::Scope<'_>, node: &Node) -> u64 {
    let below = |scope: &mut L::Scope<'_>, child: &Option<Box<Node>>| {
        child.as_deref().map_or(0, |child| sum::<L>(scope, child))
    };
    let (left, right) = L::join(
        scope,
        |scope| below(scope, &node.left),
        |scope| below(scope, &node.right),
    );
    node.value + left + right
}

/// Numbers to be summed by each library's function.
pub(in crate::peers::fork) struct Sum(Vec<u64>);

impl Sum {
    /// The numbers below `count`.
    pub(in crate::peers::fork) fn new(count: u64) -> Sum {
        Sum((0..count).collect())
    }
}

impl Count for Sum {
    fn expected(&self) -> u64 {
        let count = self.0.len() as u64;
        count * (count - 1) / 2
    }

    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64 {
        L::sum(scope, &self.0)
    }
}

/// A short job of equal pieces, each of this many steps.
pub(in crate::peers::fork) struct Frame(u64);

impl Frame {
    /// About this many microseconds in all; the figures of `serial` give the exact number.
    pub(in crate::peers::fork) fn new(micros: u64) -> Frame {
        Frame(micros * STEPS_IN_A_MICROSECOND / u64::from(PIECES))
    }
}

impl Count for Frame {
    fn expected(&self) -> u64 {
        let add = |sum: u64, at: u32| sum.wrapping_add(piece(self.0, at));
        (0..PIECES).fold(0, add)
    }

    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64 {
        pieces::<L>(scope, self.0, 0..PIECES)
    }
}

fn pieces<L: Library>(scope: &mut L::Scope<'_>, steps: u64, range: Range<u32>) -> u64 {
    if range.len() == 1 {
        return piece(steps, range.start);
    }
    let middle = range.start.midpoint(range.end);
    let (a, b) = L::join(
        scope,
        |scope| pieces::<L>(scope, steps, range.start..middle),
        |scope| pieces::<L>(scope, steps, middle..range.end),
    );
    a.wrapping_add(b)
}

/// Runs steps of xorshift, each of which needs the one before. Never inlined: the same code for
/// every library.
#[inline(never)]
fn piece(steps: u64, at: u32) -> u64 {
    let mut value = u64::from(at) + 1;
    for _ in 0..black_box(steps) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    value
}

const PIECES: u32 = 64;
/// A step is six instructions that wait for one another.
const STEPS_IN_A_MICROSECOND: u64 = 500;
