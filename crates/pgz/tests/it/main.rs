//! What the program promises, tried on the program itself, with `gzip` as the judge.
//!
//! * `round_trip`: whatever goes in comes out, whichever program packs and unpacks.
//! * `options`: each option does what gzip's does: files, contents, exit code.
//! * `listing`: the table of `-l` and the lines of `-v`.
//! * `files`: modes, times, owners, links, names; what is there afterwards.
//! * `damage`: damaged files are found, named with the place, and leave nothing behind.
//! * `limits`: full disks, closed pipes, vanished files, signals.
//! * `memory`: flat, whatever the file and the consumer.
//! * `terminal`: what is different on a terminal.
//! * `trace`: what `PIRN_TRACE` leaves.
//!
//! `gzip` must be installed. Where `pigz` is not, the tests say so and go on without it.

#![expect(clippy::disallowed_methods, reason = "plain threads watch the program")]

mod sandbox;

mod damage;
mod files;
mod limits;
mod listing;
mod memory;
mod options;
mod round_trip;
mod terminal;
mod trace;
#[path = "../../../pirn/tests/it/trace_format.rs"]
mod trace_format;
