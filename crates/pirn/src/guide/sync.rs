//! Locks and barriers: the purpose of each, and the order in which waiters resume.

#![doc = include_str!("../../guide/sync.md")]
