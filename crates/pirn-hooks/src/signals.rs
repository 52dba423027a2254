//! Calls in signal handlers do not park.
//!
//! A handler runs in the middle of other code, perhaps on the stack of a fiber. `sigaction`,
//! `signal`, `ssignal` and `sysv_signal` install [`run_handler`] in its place, which marks the
//! thread while the handler runs. A handler that leaves by `siglongjmp` leaves the mark: then no
//! call of that thread parks any more.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{sighandler_t, siginfo_t};

use crate::kernel;

/// The number of signals, and 1.
const SIGNALS: usize = 65;

/// The handlers that the program has installed; 0 is none.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

thread_local! {
    /// The handlers that run on this thread.
    static RUNNING: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether the caller is in a signal handler.
#[inline]
pub(crate) fn is_in_handler() -> bool {
    RUNNING.get() > 0
}

unsafe extern "C" {
    /// glibc's `sigaction`, by the name that this crate does not define.
    #[link_name = "__sigaction"]
    fn next_sigaction(
        signal: c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction,
    ) -> c_int;

    /// glibc's `signal`, by the name that this crate does not define.
    #[link_name = "bsd_signal"]
    fn next_signal(signal: c_int, handler: sighandler_t) -> sighandler_t;
}

/// Calls the program's handler of the signal.
///
/// # Safety
/// The system calls it, as it would call the program's handler.
unsafe extern "C" fn run_handler(
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    // ORDERING: Acquire, with the Release in `sigaction`.
    let handler = HANDLERS[signal as usize].load(Ordering::Acquire);
    // SAFETY: a handler takes these arguments, or only the first one. The address is not zero: it
    // was stored before this function was installed, and only another handler replaces it.
    let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
        unsafe { mem::transmute(handler) };
    RUNNING.set(RUNNING.get() + 1);
    // SAFETY: as the system would call it.
    unsafe { handler(signal, info, context) };
    RUNNING.set(RUNNING.get() - 1);
}

/// Returns whether it is a handler of the program.
fn is_function(handler: sighandler_t) -> bool {
    let ours = run_handler as *const () as sighandler_t;
    handler != ours && !matches!(handler, libc::SIG_DFL | libc::SIG_IGN | libc::SIG_ERR)
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let Some(slot) = usize::try_from(signal).ok().and_then(|at| HANDLERS.get(at)) else {
        // SAFETY: the caller's promise.
        return unsafe { next_sigaction(signal, new, old) };
    };
    let before = slot.load(Ordering::Relaxed);
    // SAFETY: the caller's promise.
    let mut action = unsafe { new.as_ref() }.copied();
    if let Some(action) = &mut action
        && is_function(action.sa_sigaction)
    {
        slot.store(action.sa_sigaction, Ordering::Release);
        action.sa_sigaction = run_handler as *const () as sighandler_t;
    }
    let action = action.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the caller's promise.
    let done = unsafe { next_sigaction(signal, action, old) };
    if done != 0 {
        slot.store(before, Ordering::Release);
        return done;
    }
    // SAFETY: the caller's promise; the call has written it.
    if let Some(old) = unsafe { old.as_mut() }
        && old.sa_sigaction == run_handler as *const () as sighandler_t
    {
        old.sa_sigaction = before;
    }
    done
}

/// Installs a handler for which system calls are restarted, unless `siginterrupt` has decided
/// otherwise.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    let Some(slot) = usize::try_from(signal).ok().and_then(|at| HANDLERS.get(at)) else {
        // SAFETY: the caller's promise.
        return unsafe { next_signal(signal, handler) };
    };
    let before = slot.load(Ordering::Relaxed);
    let ours = run_handler as *const () as sighandler_t;
    let installed = match is_function(handler) {
        true => {
            slot.store(handler, Ordering::Release);
            ours
        }
        false => handler,
    };
    // SAFETY: the caller's promise.
    match unsafe { next_signal(signal, installed) } {
        libc::SIG_ERR => {
            slot.store(before, Ordering::Release);
            libc::SIG_ERR
        }
        old if old == ours => before,
        old => old,
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ssignal(
    number: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    // SAFETY: the caller's promise.
    unsafe { signal(number, handler) }
}

/// Installs a handler for one signal, which interrupts system calls. `<signal.h>` calls it in place
/// of `signal` in strict ISO C.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __sysv_signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    if handler == libc::SIG_ERR {
        kernel::set_error(libc::EINVAL);
        return libc::SIG_ERR;
    }
    // SAFETY: plain data of C.
    let mut new: libc::sigaction = unsafe { mem::zeroed() };
    new.sa_sigaction = handler;
    new.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
    let mut old = new;
    // SAFETY: two actions.
    match unsafe { sigaction(signal, &raw const new, &raw mut old) } {
        0 => old.sa_sigaction,
        _ => libc::SIG_ERR,
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sysv_signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    // SAFETY: the caller's promise.
    unsafe { __sysv_signal(signal, handler) }
}
