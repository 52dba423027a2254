//! For users of threads: equivalents and differences.
//!
//! [README.md]: crate::guide
//! [from_go.md]: crate::guide::from_go
//! [servers.md]: crate::guide::servers
//! [which_one.md]: crate::guide::which_one

#![doc = include_str!("../../../guide/from_std.md")]
