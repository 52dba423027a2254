//! Campaigns: a test in many schedules, and the report of the first one that fails.
//!
//! [README.md]: crate::guide
//! [debugging.md]: crate::guide::debugging
//! [migration.md]: crate::guide::migration
//! [time.md]: crate::guide::time

#![doc = include_str!("../../guide/finding_bugs.md")]
