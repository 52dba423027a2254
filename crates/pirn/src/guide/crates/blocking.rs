//! Blocking code on fibers: sockets of `std`, drivers, C libraries.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [cpu.md]: crate::guide::cpu
//! [running.md]: crate::guide::running

#![doc = include_str!("../../../guide/blocking_crates.md")]
