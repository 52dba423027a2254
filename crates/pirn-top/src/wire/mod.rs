//! Requests to a runtime over its socket. Implements `docs/inspect-format.md`.
//!
//! Owns the connection, the reader of the answer, and the type of its text, which contains no
//! terminal commands.

mod answer;
mod client;
mod failure;
mod lines;
mod process;
mod text;

pub use client::{ask_fiber, ask_raw, ask_snapshot};
pub use failure::{Excess, Failure, Silence};
pub(crate) use lines::sum;
pub use lines::{
    Counters, Fiber, FiberState, Runtime, Scale, Snapshot, SpawnLine, Tally, Worker, read,
};
pub use text::Text;
