//! Workers, spawn lines and dispatchers; where a fiber starts, and what delays it.
//!
//! [README.md]: crate::guide
//! [cpu.md]: crate::guide::cpu
//! [migration.md]: crate::guide::migration
//! [structure.md]: crate::guide::structure

#![doc = include_str!("../../guide/running.md")]
