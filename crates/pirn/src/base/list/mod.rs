//! Intrusive lists: the links live in the nodes, so no queue ever allocates.
//!
//! Two kinds, for two kinds of nodes:
//!
//! | list | nodes | links | access to the links |
//! |---|---|---|---|
//! | [`Fifo`] | fiber headers, type-stable | one [`Link`] | the owner of the queue that the node is in |
//! | [`List`] | waiters on a stack | two, in [`Links`] | the holder of the list's lock |
//!
//! Owns the links and nothing else of a node; a [`Node`] adds them to a value. Does not decide
//! which queue a node is in.

mod double;
mod fifo;

pub(crate) use double::{DoublyLinked, Links, List, Node};
pub(crate) use fifo::{Fifo, Link, Linked, NodePtr, set_next};
