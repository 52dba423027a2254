//! Async crates on fibers, and fibers in async code.

#![doc = include_str!("../../guide/async_crates.md")]
