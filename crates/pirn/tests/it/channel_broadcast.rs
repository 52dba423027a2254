//! Channels to all receivers: broadcasts and watched values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel::{RecvError, SendError, broadcast, never, watch};

use crate::channel_kinds::Counted;
use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone};

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
