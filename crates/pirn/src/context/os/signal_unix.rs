//! The handler of memory faults: this library's first, then the previous one.
//!
//! It runs on the alternate signal stack, which std gives to every thread it starts. It calls no
//! function that may allocate or lock.

use std::ptr;
use std::sync::OnceLock;

/// Examines a fault at an address; returns if the fault is not a stack overflow.
type OnFault = fn(address: usize);

static ON_FAULT: OnceLock<OnFault> = OnceLock::new();
static PREVIOUS: [OnceLock<libc::sigaction>; 2] = [OnceLock::new(), OnceLock::new()];

/// A guard raises one or the other, depending on the system.
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Registers `on_fault` to be called for each later fault of the process, on the thread that
/// faulted, inside a signal handler. Only the first call counts.
pub(in crate::context) fn on_fault(on_fault: OnFault) {
    if ON_FAULT.set(on_fault).is_err() {
        return;
    }
    for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        previous.get_or_init(|| {
            let mut action = default_action();
            // SAFETY: the call only reads the action; `action` has room for the result.
            unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
            action
        });
        let mut action = default_action();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: `handle` has the signature that SA_SIGINFO calls for, and does only what a
        // handler may do.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
}

/// Writes as many of the bytes as it can to standard error.
pub(in crate::context) fn write_stderr(bytes: &[u8]) {
    // SAFETY: the bytes are readable; the call is allowed in a handler.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

extern "C" fn handle(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the system passes a filled `siginfo_t`.
    let info_ref = unsafe { &*info };
    // A fault has a positive code; a signal that another process sent has no address.
    if info_ref.si_code > 0
        && let Some(on_fault) = ON_FAULT.get()
    {
        // SAFETY: a fault carries the address.
        on_fault(unsafe { info_ref.si_addr() }.addr());
    }
    pass_on(signal, info, context);
}

/// Calls the previous handler. Where there was none, restores the default and returns: the
/// instruction faults again and the process ends as it would have.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let index = usize::from(signal != SIGNALS[0]);
    let previous = PREVIOUS[index]
        .get()
        .copied()
        .unwrap_or_else(default_action);
    let handler = previous.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        let action = default_action();
        // SAFETY: the default action is always valid.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
        return;
    }
    let handler = ptr::with_exposed_provenance::<()>(handler);
    if previous.sa_flags & libc::SA_SIGINFO != 0 {
        type Handler =
            extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: code that installs a handler with SA_SIGINFO promises this signature.
        let handler = unsafe { std::mem::transmute::<*const (), Handler>(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: code that installs a handler without it promises this one.
        let handler = unsafe {
            std::mem::transmute::<*const (), extern "C" fn(libc::c_int)>(handler)
        };
        handler(signal);
    }
}

fn default_action() -> libc::sigaction {
    // SAFETY: all zeros is a valid action: the default one, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = libc::SIG_DFL;
    action
}
