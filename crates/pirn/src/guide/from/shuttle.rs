//! For users of shuttle: equivalents, and words that mean something else.
//!
//! [README.md]: crate::guide
//! [finding_bugs.md]: crate::guide::finding_bugs
//! [from_rayon.md]: crate::guide::from_rayon

#![doc = include_str!("../../../guide/from_shuttle.md")]
