//! Channels of other kinds: ordered, broadcast, watch, oneshot.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::channel::broadcast::{self, RecvError as BroadcastError};
use pirn::channel::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, oneshot, ordered, watch,
};
use pirn::{Interrupt, cancel::Token, scope};

use crate::{MOMENT, check};

/// Results come in the order of submission, with the panic of one job in its place, and no more
/// jobs than places are under way.
fn jobs_in_order(capacity: usize) {
    let (work, results) = ordered(capacity);
    let begun = Arc::new(AtomicUsize::new(0));
    let received = Arc::clone(&begun);
    scope(|s| {
        let receiver = s.spawn(move || {
            let mut all = Vec::new();
            loop {
                received.fetch_add(1, Ordering::Relaxed);
                match results.recv() {
                    Ok(result) => all.push(result.ok()),
                    Err(_) => break all,
                }
            }
        });
        for n in 0..4 {
            let job = move || {
                pirn::yield_now();
                assert_ne!(n, 2, "on purpose");
                n
            };
            work.spawn(job).unwrap();
            assert!(n < begun.load(Ordering::Relaxed) + capacity);
        }
        drop(work);
        let all = receiver.join().unwrap();
        assert_eq!(all, [Some(0), Some(1), None, Some(3)]);
    });
}

// Proves: U30-kinds.
#[test]
fn results_come_in_the_order_of_their_jobs() {
    check(|| jobs_in_order(1));
    check(|| jobs_in_order(2));
}

/// A close at any moment: all accepted jobs run, and their results come.
// Proves: U30-kinds.
#[test]
fn a_close_loses_no_job_in_order() {
    check(|| {
        let (work, results) = ordered(2);
        let closer = work.clone();
        scope(|s| {
            let submitter = s.spawn(move || {
                let accepted = (0..3).map(|n| work.spawn(move || n).is_ok());
                accepted.collect::<Vec<_>>()
            });
            s.spawn(move || assert!(closer.close()));
            let all: Vec<usize> = results.iter().map(|result| result.unwrap()).collect();
            let accepted = submitter.join().unwrap();
            let count = accepted.iter().take_while(|it| **it).count();
            assert!(accepted[count..].iter().all(|it| !it), "{accepted:?}");
            assert!(all.into_iter().eq(0..count));
        });
    });
}

/// Each receiver has each value, or is informed of how many it has missed.
// Proves: U30-kinds.
#[test]
fn a_broadcast_reaches_each_receiver() {
    check(|| {
        let (tx, rx) = broadcast::channel(2);
        let other = rx.clone();
        scope(|s| {
            s.spawn(move || (0..4).for_each(|n| assert_eq!(tx.send(n), Ok(2))));
            // Both receivers exist until all has been sent: the ends are kept.
            let receivers = [rx, other].map(|mut rx| {
                s.spawn(move || {
                    let mut next = 0;
                    loop {
                        match rx.recv() {
                            Ok(n) => {
                                assert_eq!(n, next);
                                next += 1;
                            }
                            Err(BroadcastError::Lagged(missed)) => next += missed,
                            Err(error) => break (error, next, rx),
                        }
                    }
                })
            });
            for receiver in receivers {
                let (error, next, _rx) = receiver.join().unwrap();
                assert_eq!((error, next), (BroadcastError::Disconnected, 4));
            }
        });
    });
}

/// A receiver that subscribes has all values from then on.
// Proves: U30-kinds.
#[test]
fn a_broadcast_reaches_a_new_receiver() {
    check(|| {
        let (tx, rx) = broadcast::channel(4);
        let source = rx.resubscribe();
        drop(rx);
        scope(|s| {
            s.spawn(move || (0..3).for_each(|n| assert!(tx.send(n).is_ok())));
            let new = s.spawn(move || {
                pirn_sim::point();
                let mut rx = source.resubscribe();
                let all: Vec<u32> = std::iter::from_fn(|| rx.recv().ok()).collect();
                (all, source)
            });
            let (all, mut source) = new.join().unwrap();
            let first = 3 - all.len() as u32;
            assert!(all.into_iter().eq(first..3));
            let all: Vec<u32> = std::iter::from_fn(|| source.recv().ok()).collect();
            assert_eq!(all, [0, 1, 2]);
        });
    });
}

/// A cancelled receive has received nothing.
// Proves: U30-kinds.
#[test]
fn a_cancelled_broadcast_skips_nothing() {
    check(|| {
        let (tx, mut rx) = broadcast::channel(4);
        let token = Token::new();
        scope(|s| {
            let canceller = token.clone();
            s.spawn(move || canceller.cancel());
            s.spawn(move || (0..3).for_each(|n| assert!(tx.send(n).is_ok())));
            let mut all: Vec<u32> = Vec::new();
            let end = token.enter(|| {
                loop {
                    match rx.recv() {
                        Ok(n) => all.push(n),
                        Err(error) => break error,
                    }
                }
            });
            let expected = [
                BroadcastError::Disconnected,
                BroadcastError::Interrupted(Interrupt::Cancelled),
            ];
            assert!(expected.contains(&end), "{end}");
            all.extend(std::iter::from_fn(|| rx.recv().ok()));
            assert_eq!(all, [0, 1, 2]);
        });
    });
}

/// A watched value is reported when it has changed, never twice, and the last one in any case.
// Proves: U30-kinds.
#[test]
fn a_watched_value_is_reported_once() {
    check(|| {
        let (tx, rx) = watch::channel(0);
        let other = rx.clone();
        scope(|s| {
            s.spawn(move || {
                tx.send(1).unwrap();
                tx.modify(|value| {
                    pirn_sim::point();
                    *value = 2;
                });
                tx.send(3).unwrap();
            });
            let watchers = [rx, other].map(|mut rx| {
                s.spawn(move || {
                    let mut seen = vec![*rx.borrow_and_update()];
                    let end = loop {
                        match rx.changed() {
                            Ok(()) => seen.push(*rx.borrow_and_update()),
                            Err(error) => break error,
                        }
                    };
                    assert_eq!(end, RecvError::Disconnected);
                    seen
                })
            });
            for watcher in watchers {
                let seen = watcher.join().unwrap();
                assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
                assert_eq!(seen.last(), Some(&3));
            }
        });
    });
}

/// A wait for a condition on the watched value.
// Proves: U30-kinds.
#[test]
fn a_condition_on_a_watched_value_is_noticed() {
    check(|| {
        let (tx, mut rx) = watch::channel(0);
        let other = tx.subscribe();
        scope(|s| {
            let waiter = s.spawn(move || *rx.wait_for(|value| *value >= 2).unwrap());
            let closed = s.spawn({
                let mut rx = other;
                move || rx.wait_for(|value| *value > 3).map(|value| *value)
            });
            (1..=3).for_each(|n| tx.send(n).unwrap());
            drop(tx);
            assert!([2, 3].contains(&waiter.join().unwrap()));
            assert_eq!(closed.join().unwrap(), Err(RecvError::Disconnected));
        });
    });
}

/// The one value: received, dropped with the receiver, or returned to its sender.
// Proves: U30-kinds.
#[test]
fn a_single_value_has_one_end() {
    check(|| {
        let value = Arc::new(());
        let (tx, rx) = oneshot::channel();
        scope(|s| {
            let sent = Arc::clone(&value);
            let sender = s.spawn(move || tx.send(sent).is_ok());
            let receiver = s.spawn(move || {
                let mut rx = rx;
                if let Ok(value) = rx.try_recv() {
                    return Some(value);
                }
                rx.close();
                rx.try_recv().ok()
            });
            let received = receiver.join().unwrap();
            assert_eq!(sender.join().unwrap(), received.is_some());
        });
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

/// A sender that is dropped, and one that waits for the receiver to leave.
// Proves: U30-kinds.
#[test]
fn the_ends_of_a_single_value_notice_each_other() {
    check(|| {
        let (tx, rx) = oneshot::channel::<u32>();
        let (other_tx, mut other_rx) = oneshot::channel::<u32>();
        scope(|s| {
            s.spawn(move || {
                tx.closed().unwrap();
                assert!(tx.is_closed() && tx.send(1) == Err(1));
                drop(other_tx);
            });
            s.spawn(move || drop(rx));
            let received = other_rx.recv_timeout(MOMENT);
            assert_eq!(received, Err(RecvTimeoutError::Disconnected));
            assert_eq!(other_rx.try_recv(), Err(TryRecvError::Disconnected));
        });
    });
}

/// The senders of each kind notice that the last receiver has left.
// Proves: U30-kinds.
#[test]
fn senders_notice_the_last_receiver() {
    check(|| {
        let (tx, rx) = watch::channel(0);
        let (all_tx, all_rx) = broadcast::channel(1);
        scope(|s| {
            s.spawn(move || drop((rx, all_rx)));
            s.spawn(move || {
                tx.closed().unwrap();
                assert_eq!(tx.send(1), Err(SendError::Disconnected(1)));
            });
            all_tx.closed().unwrap();
            assert_eq!(all_tx.send(1), Err(SendError::Disconnected(1)));
        });
    });
}
