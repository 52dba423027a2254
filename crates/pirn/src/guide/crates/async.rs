//! Futures on fibers, fibers in async code, hyper and tokio.
//!
//! [README.md]: crate::guide
//! [blocking_crates.md]: crate::guide::blocking_crates
//! [processes.md]: crate::guide::processes
//! [running.md]: crate::guide::running

#![doc = include_str!("../../../guide/async_crates.md")]
