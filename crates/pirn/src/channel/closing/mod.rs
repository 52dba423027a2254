//! Waiting until nothing more can be sent, as a call and as a case of a select.

mod case;
mod wait;

pub use case::ClosedCase;
pub(super) use wait::{Closing, wait_closed, wake_closing};
