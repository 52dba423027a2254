//! Workers, dispatchers, and how fibers delay each other.

#![doc = include_str!("../../guide/running.md")]
