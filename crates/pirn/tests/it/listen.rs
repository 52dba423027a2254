//! Signals are received from a channel.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::Arc;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::channel::{RecvError, TryRecvError, bounded};
use pirn::signal::{Signal, cancel_on, listen};
use pirn::{Interrupt, select};

use crate::futures_fixture::{Wakes, poll_once};
use crate::signals::{assert_passed, send};
use crate::util::{apart, eventually, on_every_shape};

/// A fiber that serves and listens receives SIGTERM amid its work; so do all the other
/// listeners, on fibers and threads.
// Proves: N7.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn all_listeners_are_notified() {
    assert_passed(apart("listen::all_listeners_are_notified", &[], || {
        on_every_shape(|runtime| {
            let (tx, jobs) = bounded::<u32>(0);
            let term = [Signal::TERM, Signal::USR1, Signal::TERM];
            let serving = listen(&term).unwrap();
            let fiber = runtime.spawn(move || {
                let mut sum = 0;
                loop {
                    select! {
                        recv(jobs) -> job => sum += job.unwrap(),
                        recv(serving) -> signal => return (sum, signal.unwrap()),
                    }
                }
            });
            let waiting = listen(&term).unwrap();
            let thread = std::thread::spawn(move || waiting.recv());
            let stop = Token::new();
            let _guard = cancel_on(&[Signal::TERM], &stop).unwrap();
            let other = listen(&[Signal::USR1]).unwrap();
            for n in 1..=10 {
                tx.send(n).unwrap();
            }
            send("-TERM");
            assert_eq!(fiber.join().unwrap(), (55, Signal::TERM));
            assert_eq!(thread.join().unwrap(), Ok(Signal::TERM));
            stop.wait();
            assert_eq!(other.try_recv(), Err(TryRecvError::Empty));
        });
    }));
}

/// Equal signals merge until one is received; different ones arrive in order, and a received one
/// can arrive again.
// Proves: N7.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn nothing_piles_up() {
    assert_passed(apart("listen::nothing_piles_up", &[], || {
        let all = [Signal::USR1, Signal::USR2, Signal::HUP];
        let slow = listen(&all).unwrap();
        // Delivered after `slow`.
        let quick = listen(&all).unwrap();
        let come = |signal, name| {
            send(name);
            assert_eq!(quick.recv(), Ok(signal));
        };
        for _ in 0..3 {
            for _ in 0..20 {
                come(Signal::USR1, "-USR1");
                come(Signal::HUP, "-HUP");
            }
            assert_eq!(slow.len(), 2);
            assert_eq!(slow.recv(), Ok(Signal::USR1));
            come(Signal::USR2, "-USR2");
            come(Signal::HUP, "-HUP");
            come(Signal::USR1, "-USR1");
            for expected in [Signal::HUP, Signal::USR2, Signal::USR1] {
                assert_eq!(slow.recv(), Ok(expected));
            }
            assert_eq!(slow.try_recv(), Err(TryRecvError::Empty));
        }
    }));
}

/// A signal returned by a dropped future takes the place of no other signal.
// Proves: N7.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn what_is_given_back_hides_nothing() {
    let name = "listen::what_is_given_back_hides_nothing";
    assert_passed(apart(name, &[], || {
        let all = [Signal::USR1, Signal::USR2];
        let slow = listen(&all).unwrap();
        // Delivered after `slow`.
        let quick = listen(&all).unwrap();
        let come = |signal, name| {
            send(name);
            assert_eq!(quick.recv(), Ok(signal));
        };
        let wakes = Arc::new(Wakes::default());
        for again in [Signal::USR1, Signal::USR2] {
            let mut future = Box::pin(slow.recv_async());
            assert!(poll_once(future.as_mut(), &wakes).is_pending());
            come(Signal::USR1, "-USR1");
            if again == Signal::USR1 {
                // With that, there are two of it.
                come(Signal::USR1, "-USR1");
            } else {
                come(Signal::USR2, "-USR2");
                assert_eq!(slow.recv(), Ok(Signal::USR2));
            }
            drop(future);
            come(Signal::USR2, "-USR2");
            assert_eq!(slow.recv(), Ok(Signal::USR1));
            if again == Signal::USR1 {
                assert_eq!(slow.recv(), Ok(Signal::USR1));
            }
            assert_eq!(slow.recv(), Ok(Signal::USR2));
            assert_eq!(slow.try_recv(), Err(TryRecvError::Empty));
        }
    }));
}

/// When the last listener is dropped, the signal ends the process as before; until then it does
/// not.
// Proves: N7.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn a_thread_that_has_ended_leaves_the_default() {
    let ended = apart(
        "listen::a_thread_that_has_ended_leaves_the_default",
        &[],
        || {
            let first = listen(&[Signal::TERM]).unwrap();
            let second = listen(&[Signal::TERM]).unwrap();
            send("-TERM");
            assert_eq!(first.recv(), Ok(Signal::TERM));
            assert_eq!(second.recv(), Ok(Signal::TERM));
            drop(first);
            send("-TERM");
            assert_eq!(second.recv(), Ok(Signal::TERM));
            let closed = listen(&[Signal::TERM]).unwrap();
            closed.close();
            assert_eq!(closed.recv(), Err(RecvError::Disconnected));
            drop(second);
            send("-TERM");
            std::thread::sleep(Duration::from_secs(60));
        },
    );
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(15), "{}", ended.stderr);
    }
}

/// A new listener removes the dropped ones.
// Proves: N7.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn listening_again_forgets_earlier_listeners() {
    let ended = apart(
        "listen::listening_again_forgets_earlier_listeners",
        &[],
        || {
            for _ in 0..1000 {
                drop(listen(&[Signal::TERM, Signal::USR2]).unwrap());
            }
            let _other = listen(&[Signal::USR1]).unwrap();
            send("-USR2");
            std::thread::sleep(Duration::from_secs(60));
        },
    );
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(12), "{}", ended.stderr);
    }
}

/// A signal that cannot be received is an error that names it, without side effects; receiving is
/// an interruption point.
// Proves: N7.
#[test]
fn a_signal_that_cannot_be_listened_to_is_named() {
    let refused = |signals: &[Signal]| listen(signals).unwrap_err();
    assert_eq!(refused(&[]).kind(), ErrorKind::InvalidInput);
    let error = refused(&[Signal::WINCH, Signal::from_raw(libc::SIGKILL)]);
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("SIGKILL"), "{error}");

    let runtime = crate::executor_kind::runtime(1);
    let signals = listen(&[Signal::WINCH]).unwrap();
    let fiber = runtime.spawn(move || signals.recv());
    eventually("it waits", || runtime.metrics().total.fiber_parks == 1);
    fiber.cancel();
    let interrupted = Err(RecvError::Interrupted(Interrupt::Cancelled));
    assert_eq!(fiber.join().unwrap(), interrupted);
}
