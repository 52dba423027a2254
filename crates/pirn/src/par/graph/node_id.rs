//! The name of a node.

/// An identifier of a node of one graph.
///
/// Identifiers ascend in the order in which nodes were added. One of another graph causes
/// a panic if this graph has too few nodes for it, and else names a node of this graph.
///
/// # Examples
/// ```
/// use pirn::par::graph::{Access, Graph, NodeId};
///
/// let mut graph = Graph::new();
/// let load: NodeId = graph.add("load", Access::new(), || {});
/// let draw: NodeId = graph.add("draw", Access::new().after(load), || {});
/// assert!(graph.line()?.eq([load, draw]));
/// # Ok::<(), pirn::par::graph::Cycle>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);
