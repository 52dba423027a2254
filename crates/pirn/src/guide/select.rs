//! Waiting for whichever of several things comes first.

#![doc = include_str!("../../guide/select.md")]
