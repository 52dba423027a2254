//! Cancellation: being interrupted, by whom, and by when.

mod deadline;

pub use crate::wait::Interrupt;
pub use deadline::{check, deadline, reason, with_deadline};
