//! Fibers that may change threads, and the promise that this needs.
//!
//! [README.md]: crate::guide
//! [finding_bugs.md]: crate::guide::finding_bugs
//! [which_one.md]: crate::guide::which_one

#![doc = include_str!("../../guide/migration.md")]
