//! Scopes, groups, tokens: what waits for what, and what is cancelled together.

#![doc = include_str!("../../guide/structure.md")]
