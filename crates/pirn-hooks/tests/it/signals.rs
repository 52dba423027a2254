//! Handlers of signals, on the stack of the fiber that they interrupt.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::fixture::on_one_worker;
use crate::raw;

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn sleep_a_while(_: c_int) {
    raw::usleep(1_000);
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

fn action(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: plain data of C.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action
}

/// Installs the action, and returns the handler of the one before.
fn install(signal: c_int, new: &libc::sigaction) -> libc::sighandler_t {
    let mut old = action(0);
    // SAFETY: the handler only sleeps and counts.
    assert_eq!(unsafe { libc::sigaction(signal, new, &raw mut old) }, 0);
    old.sa_sigaction
}

// Proves: T9.
#[test]
fn a_handler_does_not_park() {
    on_one_worker(|| {
        let handler = sleep_a_while as *const () as libc::sighandler_t;
        assert_eq!(install(libc::SIGUSR1, &action(handler)), libc::SIG_DFL);
        let other = pirn::spawn(|| ());
        // SAFETY: a handler is installed.
        assert_eq!(unsafe { libc::raise(libc::SIGUSR1) }, 0);
        assert_eq!(HANDLED.load(Ordering::Relaxed), 1);
        assert!(!other.is_finished());
        // Outside of the handler, the same call parks.
        raw::usleep(1_000);
        assert!(other.is_finished());
        other.join().unwrap();
        assert_eq!(install(libc::SIGUSR1, &action(libc::SIG_DFL)), handler);
        assert_eq!(
            install(libc::SIGUSR1, &action(libc::SIG_DFL)),
            libc::SIG_DFL
        );
    });
}

// Proves: T9.
#[test]
fn signal_returns_the_handler_before() {
    let handler = sleep_a_while as *const () as libc::sighandler_t;
    // SAFETY: the handler only sleeps and counts.
    let set = |handler| unsafe { libc::signal(libc::SIGUSR2, handler) };
    assert_eq!(set(handler), libc::SIG_DFL);
    assert_eq!(set(libc::SIG_IGN), handler);
    assert_eq!(set(libc::SIG_DFL), libc::SIG_IGN);
    // SAFETY: no signal has this number.
    assert_eq!(unsafe { libc::signal(1_000, handler) }, libc::SIG_ERR);
}
