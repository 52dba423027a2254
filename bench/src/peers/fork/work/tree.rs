//! A walk over a tree of boxed nodes.

use super::super::library::Library;
use super::Work;

/// A balanced tree.
pub(in crate::peers::fork) struct Tree {
    root: Box<Node>,
    nodes: u64,
    answer: Option<u64>,
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
            answer: None,
        }
    }
}

impl Work for Tree {
    fn prepare(&mut self) {
        self.answer = None;
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        self.answer = Some(sum::<L>(scope, &self.root));
    }

    fn check(&self) {
        assert_eq!(self.answer, Some(self.nodes), "nodes of the tree");
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
