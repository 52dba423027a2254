//! Waiting for the first of several events.

#![doc = include_str!("../../guide/select.md")]
