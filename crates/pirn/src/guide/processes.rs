//! Children, pipes, time limits, and signals.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [debugging.md]: crate::guide::debugging
//! [select.md]: crate::guide::select
//! [servers.md]: crate::guide::servers

#![doc = include_str!("../../guide/processes.md")]
