//! What is left of this room under loom: graphs, whose countdown is modelled. Joins look at a
//! word in a static table, which loom's cannot be in. Owns nothing else.

pub mod graph;
