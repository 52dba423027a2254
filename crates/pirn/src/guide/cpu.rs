//! Parallel computation: joins, loops, sorts, and the use of locks.

#![doc = include_str!("../../guide/cpu.md")]
