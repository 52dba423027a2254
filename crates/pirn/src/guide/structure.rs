//! Scopes, groups and tokens: what waits for what, and what is cancelled together.
//!
//! [README.md]: crate::guide
//! [channels.md]: crate::guide::channels
//! [running.md]: crate::guide::running
//! [select.md]: crate::guide::select

#![doc = include_str!("../../guide/structure.md")]
