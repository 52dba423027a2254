//! If you know rayon: what is written there, and here, and what the same words mean.

#![doc = include_str!("../../guide/from_rayon.md")]
