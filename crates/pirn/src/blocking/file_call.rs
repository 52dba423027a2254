//! [`file_call`]: a call that the system answers when the disk does.
//!
//! Owns: where calls on files are made. Does not own: the threads (`threads`), nor which calls
//! there are (`fs`).

use std::io;

use super::threads::{FILES, run_on};
use crate::fiber::current;
use crate::wait::begin;

/// Makes `call`, a call of the system's on a file, where it blocks no worker: on a plain thread
/// right here, otherwise on one of the threads for files, while the fiber parks.
///
/// # Errors
/// The interrupt that the caller is under: then `call` has not been made. Or what it says.
///
/// # Cancellation
/// An interruption point before the call is made; it is never left in the middle.
#[track_caller]
pub(crate) fn file_call<T: Send>(
    call: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    begin()?;
    hand_over(call)
}

/// Like [`file_call`], for a caller who has asked about interrupts.
#[track_caller]
pub(super) fn hand_over<T: Send>(
    call: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    match current::local().fiber() {
        None => call(),
        Some(_) => run_on(&FILES, call),
    }
}
