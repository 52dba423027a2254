//! For users of threads: equivalents and differences.
//!
//! [README.md]: crate::guide
//! [from_go.md]: crate::guide::from_go
//! [migration.md]: crate::guide::migration
//! [servers.md]: crate::guide::servers

#![doc = include_str!("../../../guide/from_std.md")]
