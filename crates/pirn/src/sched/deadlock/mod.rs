//! Detects fibers that can never resume.

pub(super) mod detector;
pub(crate) mod trial;
