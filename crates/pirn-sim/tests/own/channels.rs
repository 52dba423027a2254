//! Channels of values: order, capacity, closes, ends that are dropped, batches.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::Token;
use pirn::channel::{
    self, Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError,
};
use pirn::{Interrupt, scope};

use crate::check;

/// A sender's number, and the number of the value among its values.
type Value = (usize, u32);

fn open<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    match capacity {
        Some(capacity) => channel::bounded(capacity),
        None => channel::unbounded(),
    }
}

/// Two senders, two receivers: each value is received once, and those of one sender in order.
fn exchange(capacity: Option<usize>) {
    let (tx, rx) = open::<Value>(capacity);
    let lists: [Vec<Value>; 2] = scope(|s| {
        for sender in 0..2 {
            let tx = tx.clone();
            s.spawn(move || (0..3).for_each(|n| tx.send((sender, n)).unwrap()));
        }
        drop(tx);
        let other = rx.clone();
        let receivers = [rx, other].map(|rx| s.spawn(move || rx.iter().collect()));
        receivers.map(|receiver| receiver.join().unwrap())
    });
    for list in &lists {
        for sender in 0..2 {
            let own = list.iter().filter(|value| value.0 == sender);
            assert!(own.is_sorted(), "{lists:?}");
        }
    }
    let mut all = lists.concat();
    all.sort_unstable();
    assert_eq!(all, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

// Proves: U30.
#[test]
fn values_come_once_and_in_order_without_a_buffer() {
    check(|| exchange(Some(0)));
}

// Proves: U30.
#[test]
fn values_come_once_and_in_order_through_one_place() {
    check(|| exchange(Some(1)));
}

// Proves: U30.
#[test]
fn values_come_once_and_in_order_without_a_limit() {
    check(|| exchange(None));
}

/// A send is complete when its value is received or has a place.
fn bound(capacity: usize) {
    let (tx, rx) = channel::bounded(capacity);
    let (begun, sent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    scope(|s| {
        for _ in 0..2 {
            let (tx, begun, sent) = (tx.clone(), &begun, &sent);
            s.spawn(move || {
                for _ in 0..2 {
                    tx.send(()).unwrap();
                    let sent = sent.fetch_add(1, Ordering::Relaxed) + 1;
                    assert!(sent <= begun.load(Ordering::Relaxed) + capacity);
                }
            });
        }
        drop(tx);
        loop {
            begun.fetch_add(1, Ordering::Relaxed);
            if rx.recv().is_err() {
                break;
            }
        }
    });
    assert_eq!((begun.into_inner(), sent.into_inner()), (5, 4));
}

// Proves: U30.
#[test]
fn no_more_values_are_under_way_than_have_places() {
    check(|| (0..=2).for_each(bound));
}

/// A close comes at any moment, from either end. What was sent is received, the rest comes back.
fn close(capacity: usize, by_receiver: bool) {
    let (tx, rx) = channel::bounded(capacity);
    let (other_tx, other_rx) = (tx.clone(), rx.clone());
    scope(|s| {
        let sender = s.spawn(move || {
            let sent = (0..3).map(|n| tx.send(n));
            sent.collect::<Vec<_>>()
        });
        let receiver = s.spawn(move || {
            let all = rx.iter().collect::<Vec<_>>();
            assert_eq!(rx.recv(), Err(RecvError::Disconnected));
            all
        });
        let is_first = match by_receiver {
            true => other_rx.close(),
            false => other_tx.close(),
        };
        assert!(is_first && other_rx.is_closed());
        let (sent, received) = (sender.join().unwrap(), receiver.join().unwrap());
        let accepted = sent.iter().take_while(|sent| sent.is_ok()).count();
        let rest = (accepted as u32..3).map(|n| Err(SendError::Disconnected(n)));
        assert!(sent[accepted..].iter().cloned().eq(rest), "{sent:?}");
        assert!(
            received.iter().copied().eq(0..accepted as u32),
            "{received:?}"
        );
    });
}

// Proves: U30.
#[test]
fn a_close_loses_no_value_that_was_sent() {
    check(|| close(1, false));
    check(|| close(1, true));
}

// Proves: U30.
#[test]
fn a_close_gives_values_back_without_a_buffer() {
    check(|| close(0, false));
    check(|| close(0, true));
}

/// The last receiver leaves at any moment: each value is received, returned or dropped.
fn receivers_leave(capacity: usize) {
    let values: Vec<Arc<u32>> = (0..3).map(Arc::new).collect();
    let (tx, rx) = channel::bounded(capacity);
    scope(|s| {
        let copies = values.clone();
        let sender = s.spawn(move || {
            let sent = copies.into_iter().map(|value| tx.send(value));
            let sent: Vec<_> = sent.collect();
            let accepted = sent.iter().take_while(|sent| sent.is_ok()).count();
            let back = sent.into_iter().skip(accepted);
            let back = back.map(|sent| *sent.unwrap_err().into_inner());
            assert!(back.eq(accepted as u32..3));
            accepted
        });
        let receiver = s.spawn(move || *rx.recv().unwrap());
        assert_eq!(receiver.join().unwrap(), 0);
        let accepted = sender.join().unwrap();
        assert!((1..=1 + capacity).contains(&accepted), "{accepted}");
    });
    assert!(values.iter().all(|value| Arc::strong_count(value) == 1));
}

// Proves: U30.
#[test]
fn a_receiver_that_leaves_keeps_no_value() {
    check(|| (0..=2).for_each(receivers_leave));
}

/// The last sender leaves at any moment, and a weak one may become the last.
// Proves: U30.
#[test]
fn the_last_sender_ends_the_channel() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        let weak = tx.downgrade();
        scope(|s| {
            s.spawn(move || tx.send(1).unwrap());
            let revived = s.spawn(move || {
                let tx = weak.upgrade();
                tx.is_some_and(|tx| tx.send(2).is_ok())
            });
            let mut all: Vec<u32> = rx.iter().collect();
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
            all.sort_unstable();
            let expected: &[u32] = match revived.join().unwrap() {
                true => &[1, 2],
                false => &[1],
            };
            assert_eq!(all, expected);
        });
    });
}

/// A send that displaces the oldest value beside receives.
// Proves: U30.
#[test]
fn each_value_is_received_or_displaced() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        scope(|s| {
            let sender = s.spawn(move || {
                let displaced = (0..4).filter_map(|n| tx.force_send(n).unwrap());
                displaced.collect::<Vec<u32>>()
            });
            let mut received: Vec<u32> = rx.iter().collect();
            assert!(
                received.is_sorted() && received.ends_with(&[3]),
                "{received:?}"
            );
            let displaced = sender.join().unwrap();
            assert!(displaced.is_sorted(), "{displaced:?}");
            received.extend(displaced);
            received.sort_unstable();
            assert_eq!(received, [0, 1, 2, 3]);
        });
    });
}

/// Attempts beside a receiver: full means that all places are taken.
// Proves: U30.
#[test]
fn an_attempt_succeeds_or_leaves_its_value() {
    check(|| {
        let (tx, rx) = channel::bounded(2);
        scope(|s| {
            let sender = s.spawn(move || {
                let mut kept = Vec::new();
                for n in 0..4 {
                    match tx.try_send(n) {
                        Ok(()) => {}
                        Err(TrySendError::Full(back)) => kept.push(back),
                        Err(TrySendError::Disconnected(_)) => unreachable!(),
                    }
                }
                kept
            });
            let mut received = Vec::new();
            loop {
                match rx.try_recv() {
                    Ok(n) => received.push(n),
                    Err(TryRecvError::Empty) => pirn::yield_now(),
                    Err(TryRecvError::Disconnected) => break,
                }
            }
            let kept = sender.join().unwrap();
            // The first two found places.
            assert!(received.is_sorted() && received.starts_with(&[0, 1]));
            received.extend(kept);
            received.sort_unstable();
            assert_eq!(received, [0, 1, 2, 3]);
        });
    });
}

/// Batches, with a close between them.
// Proves: U30.
#[test]
fn batches_lose_nothing() {
    check(|| {
        let (tx, rx) = channel::bounded(2);
        let closer = rx.clone();
        scope(|s| {
            let sender = s.spawn(move || {
                let mut values = VecDeque::from_iter(0..6);
                let sent = tx.send_many(&mut values);
                assert_eq!(sent.is_ok(), values.is_empty(), "{sent:?}");
                values
            });
            let receiver = s.spawn(move || {
                let mut all = Vec::new();
                while let Ok(count) = rx.recv_many(&mut all, 3) {
                    assert!((1..=3).contains(&count));
                }
                all
            });
            s.spawn(move || closer.close());
            let mut all: Vec<u32> = receiver.join().unwrap();
            all.extend(sender.join().unwrap());
            assert_eq!(all, [0, 1, 2, 3, 4, 5]);
        });
    });
}

/// A cancellation at any moment: an interrupted send has sent nothing.
fn cancelled_sends(capacity: usize) {
    let (tx, rx) = channel::bounded(capacity);
    let token = Token::new();
    scope(|s| {
        let canceller = token.clone();
        s.spawn(move || canceller.cancel());
        let sender = s.spawn(move || {
            token.enter(|| {
                let sent = (0..3).map(|n| tx.send(n));
                sent.collect::<Vec<_>>()
            })
        });
        let received: Vec<u32> = rx.iter().collect();
        let sent = sender.join().unwrap();
        let accepted = received.len();
        assert!(received.into_iter().eq(0..accepted as u32));
        assert!(sent[..accepted].iter().all(|sent| sent.is_ok()), "{sent:?}");
        let rest = (accepted as u32..3)
            .map(|n| Err(SendError::Interrupted(n, Interrupt::Cancelled)));
        assert!(sent[accepted..].iter().cloned().eq(rest), "{sent:?}");
    });
}

// Proves: U30.
#[test]
fn a_cancelled_send_has_sent_nothing() {
    check(|| cancelled_sends(0));
    check(|| cancelled_sends(1));
}

/// A cancellation at any moment: an interrupted receive has received nothing.
fn cancelled_receives(capacity: usize) {
    let (tx, rx) = channel::bounded(capacity);
    let token = Token::new();
    scope(|s| {
        let canceller = token.clone();
        s.spawn(move || canceller.cancel());
        s.spawn(move || (0..3).for_each(|n| tx.send(n).unwrap()));
        let other = rx.clone();
        let receiver =
            s.spawn(move || token.enter(|| other.iter().collect::<Vec<u32>>()));
        let mut all = receiver.join().unwrap();
        all.extend(rx.iter());
        assert_eq!(all, [0, 1, 2]);
    });
}

// Proves: U30.
#[test]
fn a_cancelled_receive_has_received_nothing() {
    check(|| cancelled_receives(0));
    check(|| cancelled_receives(1));
}

/// Parties that wait until the channel is ready, without a claim on a value.
// Proves: U30.
#[test]
fn watchers_miss_no_value() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        scope(|s| {
            s.spawn(move || (0..3).for_each(|n| tx.send(n).unwrap()));
            let watch = |rx: Receiver<u32>| {
                s.spawn(move || {
                    let mut all = Vec::new();
                    loop {
                        pirn::select! {
                            case(rx.ready_case()) -> () => {}
                            cancelled(interrupt) => unreachable!("{interrupt}"),
                        }
                        match rx.try_recv() {
                            Ok(n) => all.push(n),
                            Err(TryRecvError::Empty) => {}
                            Err(TryRecvError::Disconnected) => break all,
                        }
                    }
                })
            };
            let watchers = [watch(rx.clone()), watch(rx)];
            let lists = watchers.map(|watcher| watcher.join().unwrap());
            assert!(lists.iter().all(|list| list.is_sorted()));
            let mut all = lists.concat();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        });
    });
}

/// A sender waits for room without a claim on it.
// Proves: U30.
#[test]
fn watchers_miss_no_room() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        scope(|s| {
            for sender in 0..2 {
                let tx = tx.clone();
                s.spawn(move || {
                    let mut next = 0;
                    while next < 2 {
                        pirn::select! {
                            case(tx.ready_case()) -> () => {}
                            cancelled(interrupt) => unreachable!("{interrupt}"),
                        }
                        next += u32::from(tx.try_send((sender, next)).is_ok());
                    }
                });
            }
            drop(tx);
            let mut all: Vec<Value> = rx.iter().collect();
            all.sort_unstable();
            assert_eq!(all, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        });
    });
}
