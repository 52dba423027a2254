//! Locks, semaphores, barriers and events, and the order of their waiters.
//!
//! [README.md]: crate::guide
//! [channels.md]: crate::guide::channels
//! [select.md]: crate::guide::select
//! [time.md]: crate::guide::time

#![doc = include_str!("../../guide/sync.md")]
