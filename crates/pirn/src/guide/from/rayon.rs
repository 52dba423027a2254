//! For users of rayon: equivalents, and words that mean something else.
//!
//! [README.md]: crate::guide
//! [channels.md]: crate::guide::channels
//! [cpu.md#locks]: crate::guide::cpu#locks
//! [cpu.md]: crate::guide::cpu
//! [from_crossbeam.md]: crate::guide::from_crossbeam
//! [from_shuttle.md]: crate::guide::from_shuttle

#![doc = include_str!("../../../guide/from_rayon.md")]
