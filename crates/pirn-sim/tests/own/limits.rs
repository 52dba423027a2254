//! Time limits: of one call, of code, nested ones, and sleeps.

use std::time::Duration;

use pirn::cancel::{self, Token};
use pirn::channel::{self, RecvError, RecvTimeoutError, SendTimeoutError};
use pirn::{Interrupt, scope, time, timeout};

use crate::{Log, MOMENT, assert_passed, check};

/// The limit of a receive ends at the moment of a send: the value is received now or later.
fn receive(capacity: usize) {
    let (tx, rx) = channel::bounded(capacity);
    scope(|s| {
        s.spawn(move || {
            for n in 0..3 {
                time::sleep(MOMENT).unwrap();
                tx.send(n).unwrap();
            }
        });
        let mut all = Vec::new();
        let end = loop {
            match rx.recv_timeout(MOMENT) {
                Ok(n) => all.push(n),
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(end, RecvTimeoutError::Disconnected);
        assert_eq!(all, [0, 1, 2]);
    });
}

// Proves: U30-limits.
#[test]
fn the_limit_of_a_receive_loses_no_value() {
    check(|| receive(0));
    check(|| receive(1));
}

/// A send that has timed out has sent nothing.
fn send(capacity: usize) {
    let (tx, rx) = channel::bounded(capacity);
    scope(|s| {
        let sender = s.spawn(move || {
            let sent = (0..3).filter(|n| match tx.send_timeout(*n, MOMENT) {
                Ok(()) => true,
                Err(SendTimeoutError::Timeout(back)) => {
                    assert_eq!(back, *n);
                    false
                }
                Err(error) => unreachable!("{error}"),
            });
            sent.collect::<Vec<u32>>()
        });
        let mut all = Vec::new();
        loop {
            time::sleep(MOMENT).unwrap();
            match rx.recv() {
                Ok(n) => all.push(n),
                Err(_) => break,
            }
        }
        assert_eq!(sender.join().unwrap(), all);
    });
}

// Proves: U30-limits.
#[test]
fn a_send_that_timed_out_has_sent_nothing() {
    check(|| send(0));
    check(|| send(1));
}

/// A limit of code: it is reported once, by the limit that caused it, and it ends with the code.
// Proves: U30-limits.
#[test]
fn the_nearest_limit_is_reported() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        scope(|s| {
            s.spawn(move || {
                time::sleep(2 * MOMENT).unwrap();
                tx.send(7).unwrap();
            });
            let outer = timeout(3 * MOMENT, || {
                let inner = timeout(MOMENT, || {
                    let received = rx.recv();
                    assert_eq!(cancel::reason(), Some(Interrupt::TimedOut));
                    received
                });
                assert!(inner.is_err() && cancel::reason().is_none());
                // A limit that ends later than the outer one has no effect.
                timeout(9 * MOMENT, || rx.recv()).unwrap()
            });
            assert_eq!(outer, Ok(Ok(7)));
            let late =
                timeout(MOMENT, || timeout(9 * MOMENT, || time::sleep(5 * MOMENT)));
            assert!(late.is_err());
        });
    });
}

/// A cancellation and a limit at the same moment: the cancellation is reported.
// Proves: U30-limits.
#[test]
fn a_cancellation_comes_before_a_limit() {
    check(|| {
        let token = Token::new();
        scope(|s| {
            s.spawn(|| {
                time::sleep(MOMENT).unwrap();
                token.cancel();
            });
            let (first, next) = token.enter(|| {
                let at = time::now() + MOMENT;
                cancel::with_deadline(at, || {
                    let first = time::sleep(9 * MOMENT).unwrap_err();
                    time::sleep(Duration::ZERO).unwrap_err();
                    pirn_sim::point();
                    (first, cancel::reason())
                })
            });
            // Each is possible, but a cancellation is not taken back.
            match first {
                Interrupt::Cancelled => assert_eq!(next, Some(Interrupt::Cancelled)),
                _ => assert!(next.is_some()),
            }
            assert_eq!(time::sleep(MOMENT), Ok(()));
        });
    });
}

/// Sleeps end in the order of their moments, at them, however their fibers began.
// Proves: U30-limits.
#[test]
fn sleeps_end_in_order() {
    check(|| {
        let (order, begun) = (Log::new(), time::now());
        scope(|s| {
            for n in [3, 1, 2] {
                let order = &order;
                s.spawn(move || {
                    time::sleep(n * MOMENT).unwrap();
                    assert_passed(begun, n);
                    order.add(n);
                });
            }
        });
        assert_eq!(order.take(), [1, 2, 3]);
    });
}

/// A shield keeps limits and cancellations out, and they come after it.
// Proves: U30-limits.
#[test]
fn a_shield_puts_interrupts_off() {
    check(|| {
        let (tx, rx) = channel::bounded(0);
        let token = Token::new();
        scope(|s| {
            s.spawn(|| token.cancel());
            s.spawn(move || {
                time::sleep(2 * MOMENT).unwrap();
                tx.send(7).unwrap();
            });
            token.enter(|| {
                let at = time::now() + MOMENT;
                cancel::with_deadline(at, || {
                    assert_eq!(cancel::shield(|| rx.recv()), Ok(7));
                    let end = Err(RecvError::Interrupted(Interrupt::Cancelled));
                    assert_eq!(rx.recv(), end);
                });
            });
            assert_eq!(rx.recv(), Err(RecvError::Disconnected));
        });
    });
}

/// Channels of a clock: each tick has one receiver.
// Proves: U30-limits.
#[test]
fn a_tick_has_one_receiver() {
    check(|| {
        let (ticks, begun) = (channel::tick(MOMENT), time::now());
        let all = Log::new();
        scope(|s| {
            for _ in 0..2 {
                let (ticks, all) = (ticks.clone(), &all);
                s.spawn(move || (0..2).for_each(|_| all.add(ticks.recv().unwrap())));
            }
        });
        let mut all = all.take();
        all.sort_unstable();
        let expected = (1..=4).map(|n| begun + n * MOMENT);
        assert!(all.into_iter().eq(expected));
    });
}
