//! Code shared by the programs: the life of a server, the lines on standard error, and the report
//! of a failure.
//!
//! Each program is in `src/bin`, with a description at its top. This library owns the rest:
//! [`serve`] is the life of a server from its listener to its last connection, [`log`](mod@log)
//! writes lines without blocking a worker, [`limits`] reads limits from the command line,
//! [`agent()`] is a client for HTTP, [`jobs`] reads the command lines of workers of a job queue,
//! [`exit`] reports the outcome of a program.

mod agent;
mod exit;
pub mod jobs;
mod limits;
mod log;
mod serve;

pub use agent::agent;
pub use exit::exit;
pub use limits::{CONNECTIONS, connections, seconds};
pub use log::log;
pub use serve::{Server, Stop, hang_up};
