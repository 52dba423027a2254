//! Asking a runtime over its socket: `docs/inspect-format.md` is what this room implements.
//!
//! Owns: the connection, reading the answer, and the one type of text in it, which has nothing
//! in it that a terminal would obey.

mod client;
mod failure;
mod lines;
mod process;
mod text;

pub use client::{ask_fiber, ask_snapshot};
pub use failure::{Failure, Silence};
pub use lines::{
    Counters, Fiber, FiberState, Runtime, Scale, Snapshot, SpawnLine, Tally, Worker, read,
};
pub use text::Text;
