//! Tests of the program itself, compared with `gzip`.
//!
//! * `round_trip`: the output equals the input, whichever program packs and unpacks.
//! * `options`: each option does what gzip's does: files, contents, exit code.
//! * `listing`: the table of `-l` and the lines of `-v`.
//! * `files`: modes, times, owners, links, names of the resulting files.
//! * `environment`: options from `GZIP` and `PIGZ`.
//! * `foreign`: data in an unknown format.
//! * `damage`: damaged files are detected, reported with the offset, and leave nothing behind.
//! * `limits`: full disks, vanished files, signals.
//! * `memory`: flat, whatever the file and the consumer.
//! * `older`: the formats of `compress` and `pack`.
//! * `streams`: standard streams that are closed, full, or without a reader.
//! * `terminal`: differences on a terminal.
//! * `trace`: the output of `PIRN_TRACE`.
//!
//! `gzip` must be installed. Without `pigz` the tests continue, and count as skipped.

#![expect(clippy::disallowed_methods, reason = "plain threads watch the program")]

mod sandbox;

mod damage;
mod environment;
mod files;
mod foreign;
mod limits;
mod listing;
mod memory;
mod older;
mod options;
mod round_trip;
mod streams;
mod terminal;
mod trace;
#[path = "../../../pirn/tests/it/trace_format.rs"]
mod trace_format;
#[path = "../../../pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;
