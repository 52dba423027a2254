//! Crates and C libraries that block, unchanged, inside of `pirn_hooks::within`, against servers.
//!
//! Each test makes many requests at once on one worker, each of which waits for `PAUSE` in the
//! crate, and checks that they wait at the same time.

mod clients;
#[path = "../../../tests/cluster/mod.rs"]
mod cluster;
mod databases;
mod etl;
mod fixture;
mod jobs;
#[path = "../../../tests/peers/mod.rs"]
mod peers;
mod pools;
mod service;
mod ssh;
mod tls;
