//! Workers, dispatchers, and what blocks whom.

#![doc = include_str!("../../guide/running.md")]
