//! The gzip cases: whole programs, from files or pipes to files or pipes.
//!
//! `setup` makes the inputs and finds the program of a peer, `timing` runs one, `child` is
//! the code of a child of `compare` that is such a program itself.

mod child;
mod corpus;
mod setup;
mod timing;

pub use child::child;
pub use setup::Setup;
