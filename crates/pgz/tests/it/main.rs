//! What the program promises, tried on the program itself, with `gzip` as the judge.
//!
//! * `round_trip`: whatever goes in comes out, whichever program packs and unpacks.
//! * `options`: each option does what gzip's does: files, contents, exit code.
//! * `listing`: the table of `-l` and the lines of `-v`.
//! * `files`: modes, times, owners, links, names; what is there afterwards.
//! * `environment`: options from `GZIP` and `PIGZ`.
//! * `foreign`: data in no known format.
//! * `damage`: damaged files are found, named with the place, and leave nothing behind.
//! * `limits`: full disks, vanished files, signals.
//! * `memory`: flat, whatever the file and the consumer.
//! * `older`: the formats of `compress` and `pack`.
//! * `streams`: standard streams that are closed, full, or without a reader.
//! * `terminal`: what is different on a terminal.
//! * `trace`: what `PIRN_TRACE` leaves.
//!
//! `gzip` must be installed. Where `pigz` is not, the tests go on without it, and count as skipped.

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
#[path = "../../../pirn/tests/it/unmeasured.rs"]
mod unmeasured;
