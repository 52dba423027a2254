//! For those who know tokio: what is written there, and here.

#![doc = include_str!("../../guide/from_tokio.md")]
