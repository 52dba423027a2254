//! For users of Tokio: equivalents and differences.
//!
//! [README.md]: crate::guide
//! [async_crates.md]: crate::guide::async_crates
//! [debugging.md]: crate::guide::debugging
//! [from_crossbeam.md]: crate::guide::from_crossbeam
//! [from_go.md]: crate::guide::from_go
//! [running.md]: crate::guide::running
//! [servers.md]: crate::guide::servers
//! [structure.md]: crate::guide::structure

#![doc = include_str!("../../../guide/from_tokio.md")]
