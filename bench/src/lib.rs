//! The benchmarks of pirn: its own cases, the same cases written for its peers, the floors of the
//! machine, and a guard against regressions.
//!
//! Two programs use it. `compare` runs every peer in turn and prints pirn's ratios to the best of
//! them and to its targets. `guard` counts instructions per operation and fails when they grow.
//!
//! Every measurement happens in a child process of the same program, so that no peer's threads,
//! heap or settings disturb another's. A child runs one case of one peer and prints plain lines;
//! the parent pins it, collects the lines and does all arithmetic.
//!
//! Code that only `compare` needs is behind the feature `peers`, which is on by default. Without
//! it, `guard` builds with pirn and a few crates alone.

pub mod base;
pub mod guard;

#[cfg(feature = "peers")]
pub mod case;
#[cfg(feature = "peers")]
pub mod child;
#[cfg(feature = "peers")]
pub mod floors;
#[cfg(feature = "peers")]
pub mod gzip;
#[cfg(feature = "peers")]
pub mod harness;
#[cfg(feature = "peers")]
pub mod net;
#[cfg(feature = "peers")]
pub mod peers;
#[cfg(feature = "peers")]
pub mod report;
#[cfg(feature = "peers")]
pub mod tools;
