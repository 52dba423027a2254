//! The gzip cases: whole programs, from file to file or from pipe to pipe.
//!
//! `corpus` generates the input, `setup` prepares the inputs and the command of each peer, `timing` runs
//! one command, `child` has the peers that run inside `compare child gzip`.

mod child;
mod corpus;
mod setup;
mod timing;

pub use child::child;
pub use setup::Setup;
