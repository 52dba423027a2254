//! Computing in parallel: joins, loops, sorts, and what to do with locks.

#![doc = include_str!("../../guide/cpu.md")]
