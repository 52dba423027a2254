//! Waits, deadlocks, slow fibers.

#![doc = include_str!("../../guide/debugging.md")]
