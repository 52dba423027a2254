//! The worker on which a fresh fiber starts.

pub(super) mod balance;
pub(super) mod holders;
pub(crate) mod lines;
