//! All kinds of channels, their ends, and their values.
//!
//! [README.md]: crate::guide
//! [select.md]: crate::guide::select
//! [structure.md]: crate::guide::structure

#![doc = include_str!("../../guide/channels.md")]
