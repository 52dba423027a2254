//! Atomics that no model sees: for estimates, which no protocol depends on.
//!
//! Owns: nothing; the real ones under another name, so that a lookup of an estimate is no step
//! of a model's schedule.

pub(crate) use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
