//! Cancellation: what an interrupted call reports.

pub use crate::wait::Interrupt;
