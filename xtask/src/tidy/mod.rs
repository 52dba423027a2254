//! Rules about the repository that compilers do not check, each in a file of its own.
//!
//! Every rule is a function from the tree to findings, so its tests can pass it a bad snippet and
//! expect a finding.

mod budget;
mod comments;
mod facade;
mod layers;
mod papers;
mod reasons;
mod report;
mod tree;
mod unsafe_list;
mod words;

pub(crate) use report::tidy;

#[cfg(test)]
mod tests;
