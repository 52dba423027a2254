//! Parallel computation: joins, loops and sorts; stacks, cancellation, locks.
//!
//! [README.md]: crate::guide
//! [blocking_crates.md]: crate::guide::blocking_crates
//! [debugging.md]: crate::guide::debugging
//! [from_rayon.md]: crate::guide::from_rayon
//! [running.md]: crate::guide::running

#![doc = include_str!("../../guide/cpu.md")]
