//! Running calls that block their thread off the workers.

mod compute;
mod file_call;
mod file_read;
mod in_place;
#[expect(unsafe_code, reason = "a job borrows from the frame that waits for it")]
mod threads;

pub use compute::compute;
pub(crate) use file_call::file_call;
pub(crate) use file_read::{file_read, file_read_exact};
pub use in_place::block_in_place;
pub use threads::blocking;
