//! A cycle among explicit orders: how it is found, and its public type.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use super::node_id::NodeId;

/// The error of [`run`](super::Graph::run) and [`line`](super::Graph::line): explicit
/// orders form a cycle, so that none of its nodes can be the first. It names one cycle;
/// there may be more.
///
/// # Examples
/// ```
/// use pirn::par::graph::{Access, Cycle, Graph};
///
/// let mut graph = Graph::new();
/// let egg = graph.add("egg", Access::new(), || {});
/// let hen = graph.add("hen", Access::new().after(egg), || {});
/// graph.order(hen, egg);
/// let cycle: Cycle = graph.run().unwrap_err();
/// assert!(cycle.to_string().ends_with("`egg` before `hen` before `egg`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Each is before the next, and the last before the first. Begins with the one that
    /// was added first.
    nodes: Vec<(NodeId, Cow<'static, str>)>,
}

impl Cycle {
    pub(super) fn new(nodes: Vec<(NodeId, Cow<'static, str>)>) -> Cycle {
        Cycle { nodes }
    }

    /// Returns the nodes of the cycle: each is to run before the next, and the last
    /// before the first. Begins with the one that was added first.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let egg = graph.add("egg", Access::new(), || {});
    /// let hen = graph.add("hen", Access::new().after(egg), || {});
    /// graph.order(hen, egg);
    /// assert!(graph.run().unwrap_err().nodes().eq([egg, hen]));
    /// ```
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.nodes.iter().map(|(id, _)| *id)
    }

    /// Returns the names of [`nodes`](Self::nodes).
    ///
    /// # Examples
    /// ```
    /// use pirn::par::graph::{Access, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let egg = graph.add("egg", Access::new(), || {});
    /// graph.order(egg, egg);
    /// assert!(graph.run().unwrap_err().names().eq(["egg"]));
    /// ```
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.nodes.iter().map(|(_, name)| &**name)
    }
}

/// Returns one cycle among nodes that all have a predecessor, which `before` names. It
/// begins with the smallest of its nodes.
pub(super) fn cycle(start: u32, before: impl Fn(u32) -> u32) -> Vec<u32> {
    // Backwards until a node repeats: from there on it is a cycle.
    let mut way = vec![start];
    let mut node = before(start);
    while !way.contains(&node) {
        way.push(node);
        node = before(node);
    }
    let mut cycle: Vec<u32> = way.into_iter().skip_while(|on| *on != node).collect();
    cycle.reverse();
    let smallest = (0..cycle.len()).min_by_key(|index| cycle[*index]);
    cycle.rotate_left(smallest.unwrap_or(0));
    cycle
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these nodes of a graph form a cycle: ")?;
        for name in self.names() {
            write!(f, "`{name}` before ")?;
        }
        match self.names().next() {
            Some(name) if self.nodes.len() > 1 => write!(f, "`{name}`"),
            _ => f.write_str("itself"),
        }
    }
}

impl Error for Cycle {}
