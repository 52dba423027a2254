//! The measuring house of pirn: its own cases, the same cases written for its peers, the
//! floors of the machine, and a guard against slower code.
//!
//! Two programs use it. `compare` runs every peer side by side and prints how far pirn is
//! from the best of them and from its targets. `guard` counts instructions per operation
//! and fails when they grow.
//!
//! Every measurement happens in a child process of the same program, so that no peer's
//! threads, heap or settings disturb another's. A child knows one case of one peer and
//! prints plain lines; the parent pins it, collects the lines and does all arithmetic.

pub mod case;
pub mod child;
pub mod floors;
pub mod guard;
pub mod gzip;
pub mod harness;
pub mod net;
pub mod peers;
pub mod report;
pub mod tools;
