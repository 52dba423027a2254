//! A signal cancels its tokens, and has its previous effect again when its last guard is dropped.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::signal::{Signal, cancel_on, listen};
use pirn::{Interrupt, channel};

use crate::util::{Ended, apart, eventually, on_every_shape};

pub(crate) fn send(signal: &str) {
    send_to(std::process::id(), signal);
}

pub(crate) fn send_to(process: u32, signal: &str) {
    // The shell has a built-in `kill`.
    let line = format!("kill {signal} {process}");
    let kill = Command::new("sh").args(["-c", &line]).status();
    assert!(kill.unwrap().success());
}

pub(crate) fn assert_passed(ended: Option<Ended>) {
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// SIGTERM interrupts the fibers under a token, and the process continues.
// Proves: K12.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn kill_cancels_what_is_under_the_token() {
    assert_passed(apart(
        "signals::kill_cancels_what_is_under_the_token",
        &[],
        || {
            on_every_shape(|runtime| {
                let stop = Token::new();
                let _guard = cancel_on(&[Signal::INT, Signal::TERM], &stop).unwrap();
                let (tx, rx) = channel::bounded::<()>(0);
                let fibers: Vec<_> = (0..10)
                    .map(|_| {
                        let (stop, rx) = (stop.clone(), rx.clone());
                        runtime.spawn(move || {
                            stop.enter(|| pirn::scope(|s| s.spawn(|| rx.recv()).join()))
                        })
                    })
                    .collect();
                eventually("they wait", || runtime.metrics().total.fiber_parks >= 20);
                assert!(!stop.is_cancelled());
                send("-TERM");
                for fiber in fibers {
                    assert!(fiber.join().unwrap().is_err());
                }
                assert!(stop.is_cancelled());
                drop(tx);
            });
        },
    ));
}

/// A waiter for the token itself resumes: fiber or thread.
// Proves: K12.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn kill_ends_a_wait_for_the_token() {
    assert_passed(apart(
        "signals::kill_ends_a_wait_for_the_token",
        &[],
        || {
            let stop = Token::new();
            let _guard = cancel_on(&[Signal::USR1], &stop).unwrap();
            let waits = stop.clone();
            let fiber = pirn::spawn(move || waits.wait());
            send("-USR1");
            stop.wait();
            fiber.join().unwrap();
        },
    ));
}

/// Two guards for one signal: both are notified, and after the drop of one the other still is.
// Proves: K12.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn every_guard_is_reported() {
    assert_passed(apart("signals::every_guard_is_reported", &[], || {
        let (one, two, gone) = (Token::new(), Token::new(), Token::new());
        let first = cancel_on(&[Signal::TERM, Signal::TERM], &one).unwrap();
        let _second = cancel_on(&[Signal::TERM, Signal::HUP], &two).unwrap();
        drop(cancel_on(&[Signal::TERM], &gone).unwrap());
        send("-TERM");
        one.wait();
        two.wait();
        drop(first);
        let three = Token::new();
        let _third = cancel_on(&[Signal::HUP], &three).unwrap();
        send("-HUP");
        three.wait();
        assert!(!gone.is_cancelled());
    }));
}

/// Without a guard the signal ends the process again.
// Proves: K12.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn the_last_guard_restores_the_default() {
    let ended = apart("signals::the_last_guard_restores_the_default", &[], || {
        let stop = Token::new();
        let guard = cancel_on(&[Signal::TERM], &stop).unwrap();
        let other = cancel_on(&[Signal::TERM], &stop).unwrap();
        drop(guard);
        send("-TERM");
        stop.wait();
        drop(other);
        send("-TERM");
        std::thread::sleep(Duration::from_secs(60));
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(15), "{}", ended.stderr);
    }
}

static SEEN: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_signal: libc::c_int) {
    SEEN.fetch_add(1, Ordering::SeqCst);
}

/// A handler of the program is restored after the last guard or the last listener; one that was set
/// meanwhile stays.
// Proves: K12, N7.
#[test]
#[expect(unsafe_code, reason = "handlers are the system's")]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn the_last_guard_restores_a_handler() {
    assert_passed(apart(
        "signals::the_last_guard_restores_a_handler",
        &[],
        || {
            let own = count as *const () as libc::sighandler_t;
            for (meanwhile, listens) in [(false, false), (true, false), (false, true)] {
                let before = SEEN.load(Ordering::SeqCst);
                // SAFETY: the handler counts, in an atomic.
                unsafe { libc::signal(libc::SIGUSR2, own) };
                let stop = Token::new();
                let listener = listens.then(|| listen(&[Signal::USR2]).unwrap());
                let guard =
                    (!listens).then(|| cancel_on(&[Signal::USR2], &stop).unwrap());
                send("-USR2");
                match &listener {
                    Some(listener) => assert_eq!(listener.recv(), Ok(Signal::USR2)),
                    None => stop.wait(),
                }
                assert_eq!(SEEN.load(Ordering::SeqCst), before);
                if meanwhile {
                    // SAFETY: as above.
                    unsafe { libc::signal(libc::SIGUSR2, own) };
                }
                drop((guard, listener));
                send("-USR2");
                eventually("the handler is called", || {
                    SEEN.load(Ordering::SeqCst) == before + 1
                });
            }
        },
    ));
}

/// The handler that `count_and_pass_on` calls.
static BELOW: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "handlers are the system's")]
extern "C" fn count_and_pass_on(signal: libc::c_int) {
    count(signal);
    let below = BELOW.load(Ordering::SeqCst) as *const ();
    // SAFETY: `signal` has returned it, and it was a handler.
    let below: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(below) };
    below(signal);
}

/// After the last guard a handler of the program that calls ours, as crates for signals do, gets
/// each signal once. If the program puts ours back, the earlier effect returns.
// Proves: K12, N7.
#[test]
#[expect(unsafe_code, reason = "handlers are the system's")]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn a_handler_that_calls_ours_gets_each_signal_once() {
    assert_passed(apart(
        "signals::a_handler_that_calls_ours_gets_each_signal_once",
        &[],
        || {
            let seen = |expected: usize| {
                send("-USR2");
                eventually("the handler is called", || {
                    SEEN.load(Ordering::SeqCst) >= expected
                });
                std::thread::sleep(Duration::from_millis(100));
                assert_eq!(SEEN.load(Ordering::SeqCst), expected);
            };
            let [own, above] = [count as *const (), count_and_pass_on as *const ()];
            // SAFETY: these handlers count, in an atomic.
            unsafe { libc::signal(libc::SIGUSR2, own as libc::sighandler_t) };
            for round in 0..3 {
                let stop = Token::new();
                let guard = cancel_on(&[Signal::USR2], &stop).unwrap();
                // SAFETY: as above.
                let below =
                    unsafe { libc::signal(libc::SIGUSR2, above as libc::sighandler_t) };
                BELOW.store(below, Ordering::SeqCst);
                seen(4 * round + 1);
                stop.wait();
                drop(guard);
                seen(4 * round + 2);
                seen(4 * round + 3);
                // SAFETY: it was the handler before.
                unsafe { libc::signal(libc::SIGUSR2, below) };
                seen(4 * round + 4);
            }
        },
    ));
}

/// A signal that cannot be received is an error that names it, without side effects.
// Proves: K12.
#[test]
fn a_signal_that_cannot_be_waited_for_is_named() {
    let stop = Token::new();
    for (signal, name) in [
        (Signal::from_raw(libc::SIGKILL), "SIGKILL"),
        (Signal::from_raw(libc::SIGSTOP), "SIGSTOP"),
        (Signal::from_raw(libc::SIGSEGV), "SIGSEGV"),
        (Signal::from_raw(0), "signal 0"),
        (Signal::from_raw(-7), "signal -7"),
        (Signal::from_raw(12_345), "signal 12345"),
    ] {
        let error = cancel_on(&[Signal::WINCH, signal], &stop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(name), "{error}");
    }
    // The C library reserves this one.
    #[cfg(target_os = "linux")]
    {
        let error = cancel_on(&[Signal::from_raw(32)], &stop).unwrap_err();
        assert!(error.to_string().contains("signal 32"), "{error}");
    }
    assert_eq!(Signal::TERM.to_string(), "SIGTERM");
    assert_eq!(Signal::from_raw(libc::SIGINT), Signal::INT);
    assert_eq!(Signal::INT.as_raw(), libc::SIGINT);
    assert_eq!(pirn::cancel::check(), Ok::<(), Interrupt>(()));
}

/// A thread that waits for a signal does nothing else.
// Proves: K12.
#[test]
#[cfg(target_os = "linux")]
fn waiting_for_a_signal_wakes_no_thread() {
    assert_passed(apart(
        "signals::waiting_for_a_signal_wakes_no_thread",
        &[],
        || {
            let stop = Token::new();
            let _guard = cancel_on(&[Signal::USR1], &stop).unwrap();
            let switches = || {
                let tasks = fs::read_dir("/proc/self/task").unwrap();
                let status = tasks
                    .map(|task| {
                        fs::read_to_string(task.unwrap().path().join("status")).unwrap()
                    })
                    .find(|status| status.contains("pirn-SIGUSR1"))
                    .expect("it has a thread");
                let count = status.lines().find(|line| line.starts_with("voluntary"));
                count.expect("Linux tells").to_owned()
            };
            std::thread::sleep(Duration::from_millis(200));
            let before = switches();
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(switches(), before);
        },
    ));
}
