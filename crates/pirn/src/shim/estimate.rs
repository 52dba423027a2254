//! Atomics that no model sees: for estimates, which no protocol depends on.
//!
//! Owns: nothing. It re-exports the real atomics, so that reading an estimate is not a step of a
//! model's schedule.

pub(crate) use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
