//! Fibers that may change threads, and the promise that this needs.
//!
//! [README.md]: crate::guide
//! [debugging.md]: crate::guide::debugging
//! [from_std.md]: crate::guide::from_std

#![doc = include_str!("../../guide/migration.md")]
