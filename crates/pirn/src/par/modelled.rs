//! The part of this module that exists under loom: graphs, which have a modelled
//! countdown. Joins use words of `std` (`fiber::jobs`), which loom does not see. Owns
//! nothing else.

pub mod graph;
