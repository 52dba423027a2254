//! Dumps, deadlock reports, traces, slow fibers, `pirn-top`.
//!
//! [README.md]: crate::guide
//! [cpu.md]: crate::guide::cpu
//! [finding_bugs.md]: crate::guide::finding_bugs

#![doc = include_str!("../../guide/debugging.md")]
