//! Handlers of signals, on the stack of the fiber that they interrupt.

use std::ffi::c_int;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::fixture::on_one_worker;
use crate::raw;

// Tests of one process may run at the same time: each has a signal of its own.

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

extern "C" fn nothing(_: c_int) {}

/// The look at a listener fails if a signal is pending. A call that took that for a connection
/// would block the thread, or fail if the handler interrupts calls.
// Proves: T2.
#[test]
fn a_look_amid_signals_does_not_block() {
    for flags in [libc::SA_RESTART, 0] {
        let (blocked, failed) = on_one_worker(move || accept_amid_signals(flags));
        assert_eq!(blocked, 0, "an accept blocked its thread, flags {flags:#x}");
        assert_eq!(failed, 0, "accepts failed, flags {flags:#x}");
    }
}

/// Returns how many calls have blocked the thread, and how many have failed.
fn accept_amid_signals(flags: c_int) -> (u32, u32) {
    const TIMES: u32 = 2_000;
    let mut quiet = action(nothing as *const () as libc::sighandler_t);
    quiet.sa_flags = flags;
    install(libc::SIGIO, &quiet);
    // SAFETY: no arguments.
    let worker = unsafe { libc::pthread_self() };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (ticks, over) = (&AtomicU32::new(0), &AtomicBool::new(false));
    let found = thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // SAFETY: the worker outlives this scope, and a handler is installed.
                assert_eq!(unsafe { libc::pthread_kill(worker, libc::SIGIO) }, 0);
                (0..100).for_each(|_| std::hint::spin_loop());
            }
        });
        let client = threads.spawn(|| {
            let mut blocked = 0;
            for _ in 0..TIMES {
                let (begun, before) = (Instant::now(), ticks.load(Ordering::Relaxed));
                while ticks.load(Ordering::Relaxed).wrapping_sub(before) < 3 {
                    if begun.elapsed() > Duration::from_secs(5) {
                        blocked += 1;
                        break;
                    }
                    thread::yield_now();
                }
                // This ends a call that blocks, too.
                TcpStream::connect(address).unwrap();
                if blocked > 0 {
                    break;
                }
            }
            over.store(true, Ordering::Relaxed);
            // The last call may have begun already.
            let _ = TcpStream::connect(address);
            blocked
        });
        let failed = pirn::scope(|s| {
            s.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    ticks.fetch_add(1, Ordering::Relaxed);
                    pirn::sleep(Duration::from_micros(50)).unwrap();
                }
            });
            let mut failed = 0;
            while !over.load(Ordering::Relaxed) {
                // `std` would try again after `EINTR`.
                failed += u32::from(raw::accept(listener.as_raw_fd()).is_err());
            }
            failed
        });
        (client.join().unwrap(), failed)
    });
    install(libc::SIGIO, &action(libc::SIG_DFL));
    found
}

/// A look without a limit fails if a signal is pending, and so does the `poll` of a thread. A call
/// that parks never does.
// Proves: T2.
#[test]
fn a_poll_amid_signals_ends_by_its_limit() {
    for flags in [libc::SA_RESTART, 0] {
        let of_thread = thread::spawn(move || failed_polls(flags)).join().unwrap();
        assert!(of_thread > 0, "no signal has come, flags {flags:#x}");
        let of_fiber = on_one_worker(move || failed_polls(flags));
        assert_eq!(of_fiber, 0, "flags {flags:#x}");
    }
}

/// Polls again and again amid signals; returns how many of the calls have failed.
fn failed_polls(flags: c_int) -> usize {
    const TIMES: u32 = 500;
    let mut quiet = action(nothing as *const () as libc::sighandler_t);
    quiet.sa_flags = flags;
    install(libc::SIGPROF, &quiet);
    // SAFETY: no arguments.
    let caller = unsafe { libc::pthread_self() };
    let idle = TcpListener::bind("127.0.0.1:0").unwrap();
    let over = &AtomicBool::new(false);
    let failed = thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // SAFETY: the caller outlives this scope, and a handler is installed.
                assert_eq!(unsafe { libc::pthread_kill(caller, libc::SIGPROF) }, 0);
                (0..100).for_each(|_| std::hint::spin_loop());
            }
        });
        let results = (0..TIMES).map(|_| {
            let mut one = libc::pollfd {
                fd: idle.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one entry.
            unsafe { libc::poll(&raw mut one, 1, 1) }
        });
        let failed = results.filter(|result| *result != 0).count();
        over.store(true, Ordering::Relaxed);
        failed
    });
    install(libc::SIGPROF, &action(libc::SIG_DFL));
    failed
}

// Proves: T9.
#[test]
fn signal_returns_the_handler_before() {
    let handler = sleep_a_while as *const () as libc::sighandler_t;
    // SAFETY: the handler only sleeps and counts.
    let set = |handler| unsafe { libc::signal(libc::SIGVTALRM, handler) };
    assert_eq!(set(handler), libc::SIG_DFL);
    assert_eq!(set(libc::SIG_IGN), handler);
    assert_eq!(set(libc::SIG_DFL), libc::SIG_IGN);
    // SAFETY: no signal has this number.
    assert_eq!(unsafe { libc::signal(1_000, handler) }, libc::SIG_ERR);
}

unsafe extern "C" {
    fn sysv_signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    fn ssignal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int;
}

static SLEPT: AtomicU32 = AtomicU32::new(0);

extern "C" fn sleep_and_count(_: c_int) {
    raw::usleep(1_000);
    SLEPT.fetch_add(1, Ordering::Relaxed);
}

/// Nor does a handler that another function than `sigaction` has installed.
// Proves: T9.
#[test]
fn handlers_of_the_other_functions_do_not_park() {
    on_one_worker(|| {
        let handler = sleep_and_count as *const () as libc::sighandler_t;
        for install in [sysv_signal, ssignal, libc::signal] {
            SLEPT.store(0, Ordering::Relaxed);
            // SAFETY: the handler only sleeps and counts.
            let before = unsafe { install(libc::SIGUSR2, handler) };
            assert_eq!(before, libc::SIG_DFL);
            let other = pirn::spawn(|| ());
            // SAFETY: a handler is installed.
            assert_eq!(unsafe { libc::raise(libc::SIGUSR2) }, 0);
            assert_eq!(SLEPT.load(Ordering::Relaxed), 1);
            assert!(!other.is_finished());
            other.join().unwrap();
            // SAFETY: as above. That of `sysv_signal` was for one signal.
            let last = unsafe { install(libc::SIGUSR2, libc::SIG_DFL) };
            assert!([handler, libc::SIG_DFL].contains(&last));
        }
        // SAFETY: no handler is installed.
        let refused = unsafe { libc::signal(libc::SIGUSR2, libc::SIG_ERR) };
        assert_eq!(refused, libc::SIG_ERR);
    });
}

/// What `siginterrupt` has decided holds for a handler of `signal`, also on a plain thread.
// Proves: T9.
#[test]
fn siginterrupt_holds_for_handlers_of_signal() {
    let handler = nothing as *const () as libc::sighandler_t;
    // SAFETY: no pointers.
    assert_eq!(unsafe { siginterrupt(libc::SIGPWR, 1) }, 0);
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGPWR, handler) };
    let (from, to) = std::io::pipe().unwrap();
    // SAFETY: no arguments.
    let reader = unsafe { libc::pthread_self() };
    let over = AtomicBool::new(false);
    let read = thread::scope(|threads| {
        threads.spawn(|| {
            for _ in 0..500 {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(Duration::from_millis(10));
                // SAFETY: the reader outlives this scope, and a handler is installed.
                assert_eq!(unsafe { libc::pthread_kill(reader, libc::SIGPWR) }, 0);
            }
            // Ends a read that goes on.
            raw::write(&to, &[1]).unwrap();
        });
        let read = raw::read(&from, &mut [0]);
        over.store(true, Ordering::Relaxed);
        read
    });
    // SAFETY: no pointers.
    assert_eq!(unsafe { siginterrupt(libc::SIGPWR, 0) }, 0);
    // SAFETY: no handler.
    unsafe { libc::signal(libc::SIGPWR, libc::SIG_DFL) };
    assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
}
