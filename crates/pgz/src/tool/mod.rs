//! The command line: processes file by file, with gzip's messages and exit codes.
//!
//! * `Options`: the command line, settled.
//! * `Report`: messages and the exit code.
//! * `streams`: the standard streams.
//! * `Tool`: one operand after another.
//!
//! Exit codes: 0 success, 1 an error, 2 a warning and no error.

mod args;
mod command;
mod compress;
mod decompress;
mod environment;
mod list;
mod operand;
mod options;
mod progress;
mod report;
mod run;
mod stats;
mod streams;

use list::Listing;
use operand::Tool;
use options::Options;
use report::Report;

pub use run::main;
