//! Scopes, groups, tokens: who waits for whom, and who is cancelled with whom.

#![doc = include_str!("../../guide/structure.md")]
