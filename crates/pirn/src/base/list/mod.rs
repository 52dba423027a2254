//! Intrusive lists: the links live in the nodes, so no queue ever allocates.
//!
//! Two kinds, for two kinds of nodes:
//!
//! | list | nodes | links | who touches the links |
//! |---|---|---|---|
//! | [`Fifo`] | fiber headers, type-stable | one [`Link`] | whoever owns the queue the node is in |
//! | [`List`] | waiters on a stack | two, in [`Links`] | whoever holds the lock of the list |
//!
//! Owns the links and nothing else of a node. Does not decide which queue a node is in.

mod double;
mod fifo;

pub(crate) use double::{DoublyLinked, Links, List};
pub(crate) use fifo::{Fifo, Link, Linked, set_next};
