//! Calls that block their thread, taken off the workers.

#[expect(unsafe_code, reason = "a job borrows from the frame that waits for it")]
mod threads;

pub use threads::blocking;
