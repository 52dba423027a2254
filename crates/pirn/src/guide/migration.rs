//! Fibers that may change threads, and the promise that this needs.

#![doc = include_str!("../../guide/migration.md")]
