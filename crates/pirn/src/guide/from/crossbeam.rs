//! For users of crossbeam: equivalents and differences.
//!
//! [README.md]: crate::guide
//! [from_rayon.md]: crate::guide::from_rayon
//! [from_tokio.md]: crate::guide::from_tokio

#![doc = include_str!("../../../guide/from_crossbeam.md")]
