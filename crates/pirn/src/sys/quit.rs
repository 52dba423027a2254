//! The signal that asks a program what it is doing: SIGQUIT, from the terminal Ctrl-\.
//!
//! A signal handler may do next to nothing, so it writes one byte into a pipe, and a thread
//! reads there.
//!
//! # Invariants
//! * QU1. `PIPE` is -1 or the end of a pipe that is never closed.

use std::io::{self, PipeReader};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::ptr;
// Not from `shim`: a signal handler reads it.
use std::sync::atomic::{AtomicI32, Ordering};

static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Has each SIGQUIT from now on show up as a byte in the pipe that is returned. `None` if that
/// has been done before.
///
/// # Errors
/// What the system says when it has no pipe, or refuses the handler.
pub(crate) fn on_quit() -> io::Result<Option<PipeReader>> {
    let (reader, writer) = io::pipe()?;
    let writer = writer.into_raw_fd();
    let first = PIPE.compare_exchange(-1, writer, Ordering::SeqCst, Ordering::SeqCst);
    if first.is_err() {
        // SAFETY: just made, and nobody else has it.
        unsafe { libc::close(writer) };
        return Ok(None);
    }
    // SAFETY: all zeros is a valid value, and means the default.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler as *const () as usize;
    // Whoever is interrupted in a system call goes on; fibers' stacks may be small.
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the handler does what a handler may; the old action is not wanted.
    let done =
        unsafe { libc::sigaction(libc::SIGQUIT, &raw const action, ptr::null_mut()) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Some(reader))
}

extern "C" fn handler(_signal: libc::c_int) {
    let pipe = PIPE.load(Ordering::SeqCst);
    // SAFETY: QU1; one byte, which is there. It has room, unless nobody has read the last
    // thousands; and a write that succeeds leaves `errno` alone.
    unsafe { libc::write(pipe, ptr::from_ref(&b'q').cast(), 1) };
}
