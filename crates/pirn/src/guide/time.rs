//! Sleeping, limits and deadlines, ticks, and tests in which time is virtual.

#![doc = include_str!("../../guide/time.md")]
