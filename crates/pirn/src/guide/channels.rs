//! Channels, kind by kind: what each is for, how it ends, what becomes of values.

#![doc = include_str!("../../guide/channels.md")]
