//! What fibers wait for, what hangs, what is slow.

#![doc = include_str!("../../guide/debugging.md")]
