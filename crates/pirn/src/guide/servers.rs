//! Connections, time limits, graceful shutdown, exhausted resources.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [processes.md]: crate::guide::processes
//! [time.md]: crate::guide::time

#![doc = include_str!("../../guide/servers.md")]
