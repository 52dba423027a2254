//! Sleeps, time limits, deadlines, ticks, and virtual time in tests.
//!
//! [README.md]: crate::guide
//! [debugging.md]: crate::guide::debugging
//! [finding_bugs.md]: crate::guide::finding_bugs
//! [servers.md]: crate::guide::servers
//! [sync.md]: crate::guide::sync

#![doc = include_str!("../../guide/time.md")]
