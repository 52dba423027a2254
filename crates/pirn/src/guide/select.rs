//! Waiting for the first of several events.
//!
//! [README.md]: crate::guide
//! [channels.md]: crate::guide::channels
//! [sync.md]: crate::guide::sync

#![doc = include_str!("../../guide/select.md")]
