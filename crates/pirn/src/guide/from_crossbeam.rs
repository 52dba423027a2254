//! For those who know crossbeam: what is written there, and here.

#![doc = include_str!("../../guide/from_crossbeam.md")]
