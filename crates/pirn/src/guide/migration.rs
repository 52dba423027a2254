//! Fibers that may change threads, and the promise that this needs.
//!
//! [README.md]: crate::guide
//! [finding_bugs.md]: crate::guide::finding_bugs
//! [from_std.md]: crate::guide::from_std

#![doc = include_str!("../../guide/migration.md")]
