//! Dumps, deadlock reports, traces, slow fibers, `pirn-top`.
//!
//! [README.md]: crate::guide
//! [cpu.md]: crate::guide::cpu
//! [migration.md]: crate::guide::migration

#![doc = include_str!("../../guide/debugging.md")]
