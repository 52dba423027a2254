//! Makes signals readable by a thread.
//!
//! A signal handler may do next to nothing, so it writes one byte into a pipe that belongs to the
//! signal. The thread that waits for the signal reads that pipe. Until the first is read, a
//! repeated signal counts as the same one, as in the system itself. So a pipe never holds more than
//! one byte of the handler, and the write neither blocks nor fails.
//!
//! # Invariants
//! * SG1. `pipe` is -1 or the end of a pipe that is never closed.

use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::ptr;
// Not from `shim`: a signal handler uses them.
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The highest number of a signal on Linux, plus one.
pub(crate) const SIGNALS: usize = 65;

/// The path of one signal from its handler to a reader.
struct Route {
    pipe: AtomicI32,
    /// The signal has come and has not been read. Written by the handler and by the reader.
    pending: AtomicBool,
}

static ROUTES: [Route; SIGNALS] = [const {
    Route {
        pipe: AtomicI32::new(-1),
        pending: AtomicBool::new(false),
    }
}; SIGNALS];

/// The readable end of one signal.
#[derive(Debug)]
pub(crate) struct SignalReader {
    signal: usize,
    pipe: PipeReader,
}

/// The disposition of a signal before it was caught.
pub(crate) struct Disposition(libc::sigaction);

/// Returns the reader of `signal` once it is caught. Called once for each signal.
///
/// # Errors
/// The error of the system if it has no pipe.
pub(crate) fn route(signal: usize) -> io::Result<SignalReader> {
    let (pipe, writer) = io::pipe()?;
    let before = ROUTES[signal]
        .pipe
        .swap(writer.into_raw_fd(), Ordering::SeqCst);
    assert_eq!(before, -1, "a signal has one reader");
    Ok(SignalReader { signal, pipe })
}

/// The only reader is gone. This happens only before the signal is caught, so no handler writes
/// meanwhile.
impl Drop for SignalReader {
    fn drop(&mut self) {
        let writer = ROUTES[self.signal].pipe.swap(-1, Ordering::SeqCst);
        // SAFETY: created in `route`, which passed its ownership to this place.
        drop(unsafe { OwnedFd::from_raw_fd(writer) });
    }
}

impl SignalReader {
    /// Blocks until the signal comes.
    ///
    /// # Errors
    /// The system's error for the pipe.
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

/// Installs a handler of `signal` that writes to its route, in place of the previous disposition.
///
/// # Errors
/// The error of the system if it refuses.
pub(crate) fn catch(signal: usize) -> io::Result<Disposition> {
    let mut action = none();
    action.sa_sigaction = handler as *const () as usize;
    // System calls that are interrupted restart; fibers' stacks may be small.
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    let mut before = none();
    // SAFETY: the handler does what a handler may; both are values of ours.
    match unsafe { libc::sigaction(signal as i32, &raw const action, &raw mut before) } {
        0 => Ok(Disposition(before)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns true if `signal` has the handler of [`catch`]: no other code has caught it since.
pub(crate) fn is_caught(signal: usize) -> bool {
    let mut now = none();
    // SAFETY: the call only reads the disposition.
    let asked = unsafe { libc::sigaction(signal as i32, ptr::null(), &raw mut now) };
    asked == 0 && now.sa_sigaction == handler as *const () as usize
}

/// Restores the previous disposition of `signal`. Returns false, and changes nothing, if other code
/// has caught the signal since.
pub(crate) fn restore(signal: usize, before: &Disposition) -> bool {
    let is_caught = is_caught(signal);
    if is_caught {
        // SAFETY: the system returned this value itself. So the call cannot fail.
        unsafe {
            libc::sigaction(signal as i32, &raw const before.0, ptr::null_mut());
        }
    }
    is_caught
}

/// Sends `signal` to this process.
pub(crate) fn raise(signal: usize) {
    let own = std::process::id() as libc::pid_t;
    // SAFETY: a plain system call; a failure has no remedy.
    unsafe { libc::kill(own, signal as i32) };
}

/// Sends `signal` to a child that has not been waited for, so that the number is still its own.
pub(crate) fn send_to_child(child: u32, signal: i32) -> io::Result<()> {
    send(process_id(child)?, signal)
}

/// Sends `signal` to all processes of the group that such a child leads. Returns false if it leads
/// none.
pub(crate) fn send_to_group_of(child: u32, signal: i32) -> io::Result<bool> {
    let child = process_id(child)?;
    // SAFETY: a plain system call.
    let leads = unsafe { libc::getpgid(child) } == child;
    if leads {
        send(-child, signal)?;
    }
    Ok(leads)
}

fn process_id(number: u32) -> io::Result<libc::pid_t> {
    libc::pid_t::try_from(number).map_err(io::Error::other)
}

fn send(to: libc::pid_t, signal: i32) -> io::Result<()> {
    // SAFETY: a plain system call.
    match unsafe { libc::kill(to, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
        // SAFETY: SG1; one byte, which exists, and for which there is room. So the call succeeds,
        // and does not change `errno`.
        unsafe { libc::write(pipe, ptr::from_ref(&b's').cast(), 1) };
    }
}
