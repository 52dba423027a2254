//! Signals as something that a thread can read.
//!
//! A signal handler may do next to nothing, so it writes one byte into a pipe that belongs to the
//! signal, and whoever waits for that signal reads there. A signal that comes again before the
//! first has been read is the same one, as with the system itself; so there is never more than
//! one byte of the handler's in a pipe, and its write neither blocks nor fails.
//!
//! # Invariants
//! * SG1. `pipe` is -1 or the end of a pipe that is never closed.

use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::ptr;
// Not from `shim`: a signal handler uses them.
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The highest number of a signal, plus one: what Linux has.
pub(crate) const SIGNALS: usize = 65;

/// The way of one signal from its handler to a reader.
struct Route {
    pipe: AtomicI32,
    /// It has come and has not been read. Written by the handler and by the reader.
    pending: AtomicBool,
}

static ROUTES: [Route; SIGNALS] = [const {
    Route {
        pipe: AtomicI32::new(-1),
        pending: AtomicBool::new(false),
    }
}; SIGNALS];

/// Where one signal can be read.
#[derive(Debug)]
pub(crate) struct SignalReader {
    signal: usize,
    pipe: PipeReader,
}

/// What was done about a signal before it was caught.
pub(crate) struct Disposition(libc::sigaction);

// SAFETY: a value of the system's, with no tie to a thread.
unsafe impl Send for Disposition {}

/// Returns where `signal` can be read once it is caught. Once for each signal.
///
/// # Errors
/// What the system says when it has no pipe.
pub(crate) fn route(signal: usize) -> io::Result<SignalReader> {
    let (pipe, writer) = io::pipe()?;
    let before = ROUTES[signal]
        .pipe
        .swap(writer.into_raw_fd(), Ordering::SeqCst);
    assert_eq!(before, -1, "a signal has one reader");
    Ok(SignalReader { signal, pipe })
}

/// Nobody reads any more: only before the signal is caught, so no handler writes meanwhile.
impl Drop for SignalReader {
    fn drop(&mut self) {
        let writer = ROUTES[self.signal].pipe.swap(-1, Ordering::SeqCst);
        // SAFETY: made in `route`, which gave it up to this place.
        drop(unsafe { OwnedFd::from_raw_fd(writer) });
    }
}

impl SignalReader {
    /// Waits until the signal comes.
    ///
    /// # Errors
    /// What the system says of the pipe.
    ///
    /// # Blocking
    /// Without a limit.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        loop {
            self.pipe.read_exact(&mut [0])?;
            // From here on it may come again. A byte without the mark comes from a child process
            // between its fork and its exec.
            if ROUTES[self.signal].pending.swap(false, Ordering::SeqCst) {
                return Ok(());
            }
        }
    }
}

/// Has `signal`, which has a route, show up there from now on, in place of what it did before.
///
/// # Errors
/// What the system says when it refuses.
pub(crate) fn catch(signal: usize) -> io::Result<Disposition> {
    let mut action = none();
    action.sa_sigaction = handler as *const () as usize;
    // Whoever is interrupted in a system call goes on; fibers' stacks may be small.
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    let mut before = none();
    // SAFETY: the handler does what a handler may; both are values of ours.
    match unsafe { libc::sigaction(signal as i32, &raw const action, &raw mut before) } {
        0 => Ok(Disposition(before)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Has `signal` do again what it did before; unless somebody else has caught it since.
pub(crate) fn restore(signal: usize, before: &Disposition) {
    let mut now = none();
    // SAFETY: only asks.
    let asked = unsafe { libc::sigaction(signal as i32, ptr::null(), &raw mut now) };
    if asked == 0 && now.sa_sigaction == handler as *const () as usize {
        // SAFETY: what the system said itself. It cannot fail then.
        unsafe {
            libc::sigaction(signal as i32, &raw const before.0, ptr::null_mut());
        }
    }
}

/// Sends `signal` to this process.
pub(crate) fn raise(signal: usize) {
    let own = std::process::id() as libc::pid_t;
    // SAFETY: a plain system call; nothing can be done about a failure.
    unsafe { libc::kill(own, signal as i32) };
}

fn none() -> libc::sigaction {
    // SAFETY: all zeros is a valid value, and means the default.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

extern "C" fn handler(signal: libc::c_int) {
    let Some(route) = ROUTES.get(signal as usize) else {
        return;
    };
    if !route.pending.swap(true, Ordering::SeqCst) {
        let pipe = route.pipe.load(Ordering::SeqCst);
        // SAFETY: SG1; one byte, which is there, and for which there is room: so it succeeds,
        // and leaves `errno` alone.
        unsafe { libc::write(pipe, ptr::from_ref(&b's').cast(), 1) };
    }
}
