//! When to choose pirn, Tokio, threads, rayon or Go.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [blocking_crates.md]: crate::guide::blocking_crates
//! [finding_bugs.md]: crate::guide::finding_bugs
//! [from_std.md]: crate::guide::from_std
//! [migration.md]: crate::guide::migration

#![doc = include_str!("../../guide/which_one.md")]
