//! Fibers that may change threads, and what you promise.

#![doc = include_str!("../../guide/migration.md")]
