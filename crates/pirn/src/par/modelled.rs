//! The part of this module that models of one protocol have: graphs, with their modelled
//! countdown. Joins use words of `std` (`fiber::jobs`), which such a model does not see.
//! Owns nothing else.

pub mod graph;
