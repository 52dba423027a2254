//! What is left of this room under loom: graphs, whose countdown is modelled. Joins go by
//! words of `std`'s (`fiber::jobs`), which loom does not see. Owns nothing else.

pub mod graph;
