//! `--web`, `--record` and `--replay`: the answers in a browser, in a file, and from a file.
//!
//! Owns the page, its server, and the file format of recordings, which `docs/inspect-format.md`
//! describes. The server forwards the answers of the runtime as they are; the page interprets them.

mod page;
mod recording;
mod run;
mod server;
mod source;
mod token;

pub use recording::{Recorder, Recording};
pub use run::{WebOptions, run};
