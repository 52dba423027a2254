//! Locks and meeting points, one by one: what each is for, and who goes on next.

#![doc = include_str!("../../guide/sync.md")]
