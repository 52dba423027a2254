//! The gzip cases: whole programs, from files or pipes to files or pipes.
//!
//! `setup` makes the inputs, `command` says which program stands for which peer, `timing`
//! runs one, `child` is what a child of `compare` does when it stands for one itself.

mod child;
mod command;
mod corpus;
mod setup;
mod timing;

pub use child::child;
pub use setup::{ONLY_GZIP, Setup};
