//! Futures on fibers, fibers in async code, hyper and tokio.
//!
//! [README.md]: crate::guide
//! [blocking_crates.md]: crate::guide::blocking_crates
//! [running.md]: crate::guide::running
//! [servers.md]: crate::guide::servers

#![doc = include_str!("../../guide/async_crates.md")]
