//! For users of Go: equivalents and differences.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [channels.md]: crate::guide::channels
//! [from_std.md]: crate::guide::from_std
//! [from_tokio.md]: crate::guide::from_tokio
//! [running.md]: crate::guide::running
//! [servers.md]: crate::guide::servers

#![doc = include_str!("../../../guide/from_go.md")]
