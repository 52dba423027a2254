//! What the program promises, tried on the program itself, with `gzip` as the judge.
//!
//! * `round_trip`: whatever goes in comes out, whichever program packs and unpacks.
//! * `options`: each option does what gzip's does: files, contents, exit code.
//! * `files`: modes, times, owners, links, names; what is there afterwards.
//! * `damage`: damaged files are found, named with the place, and leave nothing behind.
//! * `limits`: full disks, closed pipes, vanished files, signals, bounded memory.
//! * `terminal`: what is different on a terminal.
//!
//! `gzip` must be installed. Where `pigz` is not, the tests say so and go on without it.

mod sandbox;

mod damage;
mod files;
mod limits;
mod options;
mod round_trip;
mod terminal;
