//! Channels to all receivers: broadcasts and watched values.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::channel::{RecvError, SendError, broadcast, never, watch};

use crate::channel_kinds::Counted;
use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime};
use crate::util::LONG;

// Proves: I21.
#[test]
fn a_broadcast_reaches_all_receivers() {
    for executor in EXECUTOR_KINDS {
        let (tx, first) = broadcast::channel(16);
        let mut jobs = Jobs::new();
        let all: Vec<_> = (0..4).map(|_| first.clone()).collect();
        drop(first);
        for mut rx in all {
            jobs.add(move || {
                let (mut received, mut missed, mut last) = (0, 0, 0);
                loop {
                    match rx.recv() {
                        Ok(value) => {
                            assert!(value > last, "{value} after {last}");
                            last = value;
                            received += 1;
                        }
                        Err(broadcast::RecvError::Lagged(n)) => missed += n,
                        Err(broadcast::RecvError::Disconnected) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                assert_eq!((received + missed, last), (10_000, 10_000));
            });
        }
        jobs.add(move || {
            (1..=10_000_u64).for_each(|i| assert_eq!(tx.send(i), Ok(4)));
        });
        jobs.run(executor, 2);
    }
}

// Proves: I21.
#[test]
fn a_broadcast_drops_what_all_have_received() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, mut one) = broadcast::channel(8);
    let mut two = tx.subscribe();
    let three = one.clone();
    assert_eq!(tx.receiver_count(), 3);
    for _ in 0..5 {
        assert!(tx.send(Counted::new(&alive)).is_ok());
    }
    assert_eq!((alive.load(Ordering::SeqCst), one.len()), (5, 5));
    (0..5).for_each(|_| drop(one.recv().unwrap()));
    assert_eq!(alive.load(Ordering::SeqCst), 5);
    (0..2).for_each(|_| drop(two.recv().unwrap()));
    drop(three);
    assert_eq!((alive.load(Ordering::SeqCst), two.len()), (3, 3));
    drop(two);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    drop(one);
    assert!(matches!(
        tx.send(Counted::new(&alive)),
        Err(SendError::Disconnected(_))
    ));
}

/// A broadcast ends with its last sender and not before, or when it is closed; waiting receivers
/// are notified.
#[test]
fn a_broadcast_ends_with_its_last_sender() {
    let ends: [fn(broadcast::Sender<u8>); 2] = [drop, |tx| assert!(tx.close())];
    for end in ends {
        let (tx, mut rx) = broadcast::channel(2);
        drop(tx.clone());
        assert_eq!(tx.send(1), Ok(1));
        let received = alone(move || {
            let waits = pirn::spawn(move || [rx.recv(), rx.recv()]);
            (0..3).for_each(|_| pirn::yield_now());
            end(tx);
            (0..100).for_each(|_| pirn::yield_now());
            waits.cancel();
            waits.join().unwrap()
        });
        let over = Err(broadcast::RecvError::Disconnected);
        assert_eq!(received, [Ok(1), over]);
    }
}

// Proves: J5.
#[test]
fn a_broadcast_is_a_case() {
    let (tx, mut rx) = broadcast::channel(1);
    let sender = pirn::spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).unwrap();
    });
    let mut seen = Vec::new();
    loop {
        pirn::select! {
            case(rx.recv_case()) -> value => match value {
                Ok(value) => seen.push(value),
                Err(broadcast::RecvError::Lagged(n)) => assert_eq!(n, 1),
                Err(_) => break,
            },
            after(Duration::from_secs(60)) => panic!("late"),
            cancelled(_) => panic!("not cancelled"),
        }
    }
    assert_eq!(seen.last(), Some(&2));
    sender.join().unwrap();
}

/// The drop of a watched value's last sender is reported to waiting receivers.
#[test]
fn a_watched_value_ends_with_its_last_sender() {
    let (tx, mut rx) = watch::channel(0);
    let ended = alone(move || {
        let waits = pirn::spawn(move || rx.changed().unwrap_err());
        drop(tx.clone());
        (0..10).for_each(|_| pirn::yield_now());
        assert!(!waits.is_finished());
        drop(tx);
        (0..100).for_each(|_| pirn::yield_now());
        waits.cancel();
        waits.join().unwrap()
    });
    assert_eq!(ended, RecvError::Disconnected);
}

// Proves: I3, I21.
#[test]
fn a_watched_value_is_the_latest() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = watch::channel(0);
        let mut jobs = Jobs::new();
        for mut rx in [rx.clone(), rx.clone(), rx] {
            jobs.add(move || {
                let mut last = 0;
                while rx.changed().is_ok() {
                    let value = *rx.borrow_and_update();
                    assert!(value >= last, "{value} after {last}");
                    last = value;
                }
                assert_eq!((last, rx.has_changed()), (2_000, false));
            });
        }
        jobs.add(move || {
            (1..=1_000).for_each(|i| tx.send(2 * i - 1).unwrap());
            tx.modify(|value| *value += 1);
        });
        jobs.run(executor, 2);
    }
}

// Proves: I21.
#[test]
fn a_watched_value_is_refused_without_watchers() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = watch::channel(Counted::new(&alive));
    assert_eq!(tx.receiver_count(), 1);
    drop(rx);
    assert!(tx.send(Counted::new(&alive)).is_err());
    let rx = tx.subscribe();
    assert!(!rx.has_changed());
    tx.send(Counted::new(&alive)).unwrap();
    assert!(rx.has_changed());
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop((tx, rx));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

// Proves: J5.
#[test]
fn a_change_is_a_case() {
    let (tx, mut rx) = watch::channel(0);
    let changer = pirn::spawn(move || tx.send(5).unwrap());
    let nothing = never::<()>();
    pirn::select! {
        recv(nothing) -> _ => panic!("nothing comes"),
        case(rx.changed_case()) -> changed => changed.unwrap(),
    }
    assert_eq!(*rx.borrow(), 5);
    changer.join().unwrap();
    pirn::select! {
        recv(nothing) -> _ => panic!("nothing comes"),
        case(rx.changed_case()) -> changed => assert_eq!(changed, Err(RecvError::Disconnected)),
    }
}

/// The length counts what was missed until it is reported.
#[test]
fn a_broadcasts_length_counts_missed_values() {
    let (tx, mut rx) = broadcast::channel(2);
    assert!(rx.is_empty());
    (1..=5).for_each(|i| _ = tx.send(i).unwrap());
    assert_eq!((rx.len(), rx.clone().len(), rx.is_empty()), (5, 5, false));
    assert_eq!(rx.recv(), Err(broadcast::RecvError::Lagged(3)));
    assert_eq!(rx.len(), 2);
    assert_eq!((rx.recv(), rx.len()), (Ok(4), 1));
    assert_eq!((rx.recv(), rx.len()), (Ok(5), 0));
    // At each moment, the excess over the capacity is what the next receive reports.
    let mut lags = tx.subscribe();
    for i in 1..=4 {
        tx.send(i).unwrap();
        let missed = lags.len().saturating_sub(2) as u64;
        let expected = match missed {
            0 => Ok(1),
            missed => Err(broadcast::TryRecvError::Lagged(missed)),
        };
        assert_eq!(lags.clone().try_recv(), expected);
    }
    assert_eq!(lags.len(), 4);
    tx.close();
    assert_eq!(lags.recv(), Err(broadcast::RecvError::Lagged(2)));
}

/// A receiver that subscribes again gets later values only, and the other one keeps its own.
#[test]
fn a_broadcast_is_subscribed_again() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, mut rx) = broadcast::channel(4);
    assert!(tx.send(Counted::new(&alive)).is_ok());
    let mut late = rx.resubscribe();
    assert_eq!((rx.len(), late.len(), tx.receiver_count()), (1, 0, 2));
    assert_eq!(tx.send(Counted::new(&alive)).ok(), Some(2));
    assert_eq!((rx.len(), late.len()), (2, 1));
    drop((rx.recv().unwrap(), rx.recv().unwrap()));
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(late.recv().unwrap());
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    drop(tx);
    let ended = rx.resubscribe().try_recv().err();
    assert_eq!(ended, Some(broadcast::TryRecvError::Disconnected));
}

/// A weak sender keeps nothing open, and makes a sender while there is one.
#[test]
fn a_weak_sender_of_a_broadcast_keeps_nothing_open() {
    let (tx, mut rx) = broadcast::channel(2);
    let weak = tx.downgrade();
    let strong = weak.clone().upgrade().unwrap();
    drop(tx);
    assert!(!rx.is_closed());
    assert_eq!(strong.send(1), Ok(1));
    drop(strong);
    assert!(rx.is_closed() && weak.upgrade().is_none());
    assert_eq!(rx.recv(), Ok(1));
    assert_eq!(rx.recv(), Err(broadcast::RecvError::Disconnected));
    drop(rx);
    assert!(weak.upgrade().is_none());
    let (tx, _rx) = broadcast::channel::<u8>(1);
    assert!(tx.close());
    assert!(tx.downgrade().upgrade().unwrap().is_closed());
}

/// A condition on the value is waited for, from any state of the receiver.
#[test]
fn a_condition_on_a_watched_value_is_waited_for() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = watch::channel(0);
        let mut jobs = Jobs::new();
        for (limit, mut rx) in [(1, rx.clone()), (500, rx.clone()), (1_000, rx)] {
            jobs.add(move || {
                let found = *rx.wait_for(|value| *value >= limit).unwrap();
                assert!(found >= limit, "{found}");
                // The last value is tested too, and then there is nothing to wait for.
                assert_eq!(
                    rx.wait_for(|value| *value == 1_000).map(|value| *value),
                    Ok(1_000)
                );
                let mut tests = 0;
                let never = rx.wait_for(|_| {
                    tests += 1;
                    false
                });
                assert_eq!(never.unwrap_err(), RecvError::Disconnected);
                assert_eq!((tests, rx.has_changed()), (1, false));
            });
        }
        jobs.add(move || (1..=1_000).for_each(|i| tx.send(i).unwrap()));
        jobs.run(executor, 2);
    }
    // A value that was seen before is tested first; it counts as seen afterwards.
    let (tx, mut rx) = watch::channel(0);
    assert_eq!(*rx.wait_for(|value| *value == 0).unwrap(), 0);
    tx.send(1).unwrap();
    assert_eq!(*rx.wait_for(|_| true).unwrap(), 1);
    assert!(!rx.has_changed());
    // A panic leaves the channel usable.
    tx.send(2).unwrap();
    let panics = AssertUnwindSafe(|| drop(rx.wait_for(|_| panic!("as planned"))));
    assert!(catch_unwind(panics).is_err());
    assert!(!rx.has_changed());
    tx.send(3).unwrap();
    assert_eq!(*rx.borrow(), 3);
}

/// A value that was read as seen is not reported once more: what comes after it is another value.
#[test]
fn a_watched_value_is_reported_once() {
    const LAST: usize = 2_000;
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = watch::channel(0);
        let mut jobs = Jobs::new();
        for by_condition in [false, true, false] {
            let mut rx = rx.clone();
            jobs.add(move || {
                let mut seen = 0;
                while seen < LAST {
                    let next = match by_condition {
                        false => *rx.borrow_and_update(),
                        true => *rx.wait_for(|_| true).unwrap(),
                    };
                    if next < LAST {
                        rx.changed().unwrap();
                        assert_ne!(*rx.borrow(), next, "reported once more");
                    }
                    seen = next;
                }
            });
        }
        jobs.add(move || (1..=LAST).for_each(|i| tx.send(i).unwrap()));
        jobs.run(executor, 2);
    }
}

/// An interrupt ends a wait for a condition: before it begins, while it is parked, and while
/// changes come faster than they are tested.
#[test]
fn a_wait_for_a_condition_can_be_interrupted() {
    let (tx, mut rx) = watch::channel(0);
    let token = Token::new();
    token.cancel();
    let cancelled = RecvError::Interrupted(Interrupt::Cancelled);
    token.enter(|| assert_eq!(rx.wait_for(|_| true).unwrap_err(), cancelled));
    let mut parked = rx.clone();
    alone(move || {
        let waits = pirn::spawn(move || parked.wait_for(|_| false).map(drop));
        (0..3).for_each(|_| pirn::yield_now());
        waits.cancel();
        assert_eq!(waits.join().unwrap(), Err(cancelled));
    });
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                tx.modify(|value| *value += 1);
            }
        });
        let waited = alone(|| {
            let waits = pirn::spawn(move || rx.wait_for(|_| false).map(drop));
            (0..100).for_each(|_| pirn::yield_now());
            waits.cancel();
            waits.join()
        });
        // Before anything can fail, so that the thread ends.
        stop.store(true, Ordering::SeqCst);
        assert_eq!(waited.unwrap(), Err(cancelled));
    });
}

/// The mark of a value can be set and cleared.
#[test]
fn a_watched_value_is_marked() {
    let (tx, mut rx) = watch::channel(0);
    rx.mark_changed();
    assert!(rx.has_changed() && rx.clone().has_changed());
    assert_eq!(rx.changed(), Ok(()));
    assert!(!rx.has_changed());
    rx.mark_changed();
    rx.mark_unchanged();
    assert!(!rx.has_changed());
    tx.send(1).unwrap();
    rx.mark_unchanged();
    assert!(!rx.has_changed());
    rx.mark_changed();
    pirn::select! {
        case(rx.changed_case()) -> changed => assert_eq!(changed, Ok(())),
        default => panic!("it is marked"),
    }
    // The marks of a receiver that waits for the next change.
    rx.mark_changed();
    rx.mark_unchanged();
    let waits = pirn::spawn(move || {
        let changed = rx.changed();
        (changed, *rx.borrow(), rx.is_closed())
    });
    tx.send(2).unwrap();
    let (changed, value, _) = waits.join().unwrap();
    assert_eq!((changed, value), (Ok(()), 2));
    // Without senders a mark is reported once.
    assert!(tx.is_closed());
    let mut last = tx.subscribe();
    assert!(!tx.is_closed() && !last.is_closed());
    last.mark_changed();
    drop(tx);
    assert!(last.is_closed());
    assert_eq!(last.changed(), Ok(()));
    assert_eq!(last.changed(), Err(RecvError::Disconnected));
}

/// A value that panics when the next one displaces it does not keep that one from waiting receivers.
// Proves: I21.
#[test]
fn a_displaced_value_that_panics_loses_no_wake() {
    #[derive(Debug)]
    struct Fuse(bool);
    impl Clone for Fuse {
        fn clone(&self) -> Fuse {
            Fuse(false)
        }
    }
    impl Drop for Fuse {
        fn drop(&mut self) {
            assert!(!self.0, "displaced");
        }
    }
    runtime(1).run(|| {
        let (tx, mut ahead) = broadcast::channel(1);
        let _behind = tx.subscribe();
        tx.send(Fuse(true)).unwrap();
        ahead.recv().unwrap();
        let waits = pirn::spawn(move || ahead.recv_timeout(LONG).map(drop));
        pirn::yield_now();
        let sent = catch_unwind(AssertUnwindSafe(|| tx.send(Fuse(false))));
        assert!(sent.is_err());
        let start = std::time::Instant::now();
        waits.join().unwrap().unwrap();
        assert!(start.elapsed() < LONG / 2);
    });
}
