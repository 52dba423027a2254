//! For those who know threads: what is written with `std`, and here.

#![doc = include_str!("../../guide/from_std.md")]
