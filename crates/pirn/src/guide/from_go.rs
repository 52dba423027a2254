//! For those who know Go: what is written there, and here.

#![doc = include_str!("../../guide/from_go.md")]
