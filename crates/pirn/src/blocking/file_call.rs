//! [`file_call`]: a system call that returns when the disk answers. [`lock_call`]: one that returns
//! when another holder of a file's lock releases it.
//!
//! Owns: where calls on files are made. Does not own: the threads (`threads`), nor the calls
//! themselves (`fs`).

use std::io;

use super::threads::{FILES, THREADS, run_on};
use crate::base::choice::Operation;
use crate::fiber::current;
use crate::wait::begin;

/// Makes `call`, a system call on a file, where it blocks no worker. A plain thread makes it
/// directly. For a fiber one of the threads for files makes it, while the fiber parks.
///
/// # Errors
/// The caller's interrupt: then `call` has not been made. Or the error of `call`.
///
/// # Cancellation
/// An interruption point before the call is made, not during it.
#[track_caller]
pub(crate) fn file_call<T: Send>(
    call: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    begin(Operation::Io, 0)?;
    hand_over(call)
}

/// Like [`file_call`], for a caller that has already checked for interrupts.
#[track_caller]
pub(super) fn hand_over<T: Send>(
    call: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    match current::local().fiber() {
        None => call(),
        Some(_) => run_on(&FILES, call),
    }
}

/// Makes `call`, which waits for the lock of a file, where it blocks no worker. For a fiber one of
/// the threads of `blocking` makes it: the threads for files stay free for the holder of the lock,
/// which may read or write before it releases the lock.
///
/// # Errors
/// The error of `call`.
///
/// # Cancellation
/// Not an interruption point.
#[track_caller]
pub(crate) fn lock_call(call: impl FnOnce() -> io::Result<()> + Send) -> io::Result<()> {
    match current::local().fiber() {
        None => call(),
        Some(_) => run_on(&THREADS, call),
    }
}
