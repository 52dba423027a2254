//! Channels by kind: the purpose of each, how it ends, and what happens to its values.

#![doc = include_str!("../../guide/channels.md")]
