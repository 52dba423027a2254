//! Rules about the repository that compilers do not check, each in a file of its own.
//!
//! Every rule is a function from the tree to findings, so its tests can pass it a bad snippet and
//! expect a finding. `report` prints figures instead, and never fails.

mod attributes;
mod budget;
mod checkers;
mod comments;
mod docs;
mod facade;
mod graph;
mod guide;
mod layers;
mod paths;
mod reasons;
mod report;
mod rings;
mod rules;
mod tree;
mod unsafe_list;
mod words;

pub(crate) use rules::tidy;
pub(crate) use tree::Finding;

#[cfg(test)]
mod tests;
