//! Promises of a bounded channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
    bounded,
};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

pub(crate) const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

/// Counts how many of its kind are alive.
pub(crate) struct Counted(pub(crate) Arc<AtomicUsize>);

impl Counted {
    pub(crate) fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

// Proves: I4.
#[test]
fn values_arrive_in_the_order_in_which_they_were_sent() {
    for executor in EXECUTOR_KINDS {
        for capacity in [0, 1, 2, 7] {
            let (tx, rx) = bounded(capacity);
            let mut jobs = Jobs::new();
            jobs.add(move || (0..1_000).for_each(|i| tx.send(i).unwrap()));
            jobs.add(move || assert!(rx.iter().eq(0..1_000)));
            jobs.run(executor, 2);
        }
    }
}

// Proves: I20.
#[test]
fn what_never_waits_says_full_and_empty() {
    let (tx, rx) = bounded(2);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((tx.len(), tx.is_empty(), tx.is_full()), (0, true, false));
    tx.try_send(1).unwrap();
    assert_eq!((rx.len(), rx.is_empty(), rx.is_full()), (1, false, false));
    tx.try_send(2).unwrap();
    assert_eq!((tx.len(), rx.is_empty(), tx.is_full()), (2, false, true));
    assert_eq!(tx.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!((tx.capacity(), rx.capacity()), (Some(2), Some(2)));
    drop(tx);
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn a_rendezvous_channel_is_both_full_and_empty() {
    let (tx, rx) = bounded(0);
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!(tx.is_empty() && tx.is_full() && rx.is_empty() && rx.is_full());
    assert_eq!((tx.len(), rx.capacity()), (0, Some(0)));
    drop(rx);
    assert_eq!(tx.try_send(1), Err(TrySendError::Disconnected(1)));
}

// Proves: I2.
#[test]
fn a_rendezvous_send_ends_only_with_its_transfer() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = bounded(0);
        let received = AtomicBool::new(false);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            tx.send(7).unwrap();
            assert!(received.load(Ordering::SeqCst));
        });
        jobs.add(|| {
            for _ in 0..100 {
                pirn::yield_now();
            }
            received.store(true, Ordering::SeqCst);
            assert_eq!(rx.recv(), Ok(7));
        });
        jobs.run(executor, 2);
    }
}

// Proves: I4.
#[test]
fn what_never_waits_meets_a_parked_partner() {
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = bounded(0);
        let (back, answers) = bounded(0);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            tx.send(1).unwrap();
            assert_eq!(answers.recv(), Ok(2));
        });
        jobs.add(|| {
            while rx.try_recv() != Ok(1) {
                pirn::yield_now();
            }
            while back.try_send(2).is_err() {
                pirn::yield_now();
            }
        });
        jobs.run(executor, 2);
    }
}

// Proves: I5, I19.
#[test]
fn time_limits_end_waits_not_before_their_time() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for capacity in [0, 1] {
            jobs.add(move || {
                let (tx, rx) = bounded(capacity);
                let start = pirn::time::now();
                assert_eq!(rx.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
                assert!(pirn::time::now() - start >= SHORT);
                (0..capacity).for_each(|_| tx.send(0).unwrap());
                let deadline = pirn::time::now() + SHORT;
                let late = tx.send_deadline(1, deadline);
                assert_eq!(late, Err(SendTimeoutError::Timeout(1)));
                assert!(pirn::time::now() >= deadline);
                // The waiters have left the queue: the next ones do not find them.
                assert_eq!(rx.try_recv().is_ok(), capacity == 1);
                assert!(tx.try_send(2).is_ok() == (capacity == 1));
            });
        }
        jobs.run(executor, 2);
    }
}

#[test]
fn a_time_limit_does_not_hurry_what_can_be_done_at_once() {
    let (tx, rx) = bounded(1);
    let past = Instant::now() - Duration::from_millis(1);
    tx.send_deadline(1, past).unwrap();
    assert_eq!(
        tx.send_timeout(2, Duration::ZERO),
        Err(SendTimeoutError::Timeout(2))
    );
    assert_eq!(rx.recv_deadline(past), Ok(1));
    assert_eq!(
        rx.recv_timeout(Duration::ZERO),
        Err(RecvTimeoutError::Timeout)
    );
    tx.send_timeout(3, Duration::MAX).unwrap();
    assert_eq!(rx.recv_timeout(Duration::MAX), Ok(3));
}

#[test]
fn a_partner_that_comes_in_time_ends_a_limited_wait() {
    for executor in EXECUTOR_KINDS {
        for capacity in [0, 1] {
            let (tx, rx) = bounded(capacity);
            let mut jobs = Jobs::new();
            jobs.add(move || (0..100).for_each(|i| tx.send_timeout(i, LONG).unwrap()));
            jobs.add(move || {
                (0..100).for_each(|i| assert_eq!(rx.recv_timeout(LONG), Ok(i)));
            });
            jobs.run(executor, 2);
        }
    }
}

// Proves: D-6.
#[test]
fn parked_receivers_are_served_in_order_of_arrival() {
    const RECEIVERS: usize = 50;
    for capacity in [0, 1, 3] {
        alone(|| {
            let (tx, rx) = bounded(capacity);
            let arrived = AtomicUsize::new(0);
            pirn::scope(|s| {
                for _ in 0..RECEIVERS {
                    s.spawn(|| {
                        let place = arrived.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(rx.recv(), Ok(place));
                    });
                }
                until(&arrived, RECEIVERS);
                (0..RECEIVERS).for_each(|i| tx.try_send(i).unwrap());
            });
        });
    }
}

#[test]
fn parked_senders_are_served_in_order_of_arrival() {
    const SENDERS: usize = 50;
    for capacity in [0, 1, 3] {
        alone(|| {
            let (tx, rx) = bounded(capacity);
            let arrived = AtomicUsize::new(0);
            pirn::scope(|s| {
                for _ in 0..SENDERS {
                    s.spawn(|| {
                        let place = arrived.fetch_add(1, Ordering::SeqCst);
                        tx.send(place).unwrap();
                    });
                }
                until(&arrived, SENDERS);
                (0..SENDERS).for_each(|i| assert_eq!(rx.try_recv(), Ok(i)));
            });
        });
    }
}

#[test]
fn iterators_end_with_the_channel_or_with_what_is_there() {
    let (tx, rx) = bounded(8);
    (0..5).for_each(|i| tx.send(i).unwrap());
    assert!(rx.try_iter().take(2).eq(0..2));
    assert!(rx.try_iter().eq(2..5));
    assert_eq!(rx.try_iter().next(), None);
    tx.send(9).unwrap();
    drop(tx);
    let mut rest = (&rx).into_iter();
    assert_eq!((rest.next(), rest.next()), (Some(9), None));
    assert_eq!(rest.interrupted(), None);
}

#[test]
fn ends_know_their_channel() {
    let (tx, rx) = bounded::<u8>(1);
    let (other_tx, other_rx) = bounded::<u8>(1);
    assert!(tx.same_channel(&tx.clone()) && rx.same_channel(&rx.clone()));
    assert!(!tx.same_channel(&other_tx) && !rx.same_channel(&other_rx));
}

// Proves: I23.
#[test]
fn every_value_is_dropped_once_wherever_it_ends() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = bounded(10);
    for _ in 0..10 {
        tx.send(Counted::new(&alive)).unwrap();
    }
    drop(tx.try_send(Counted::new(&alive)));
    (0..3).for_each(|_| drop(rx.recv().unwrap()));
    assert_eq!(alive.load(Ordering::SeqCst), 7);
    drop(rx);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

#[test]
fn values_may_borrow() {
    let words = String::from("three small words");
    let (tx, rx) = bounded(1);
    pirn::scope(|s| {
        s.spawn(|| {
            words.split(' ').for_each(|word| tx.send(word).unwrap());
            tx.close();
        });
        assert_eq!(rx.iter().collect::<Vec<_>>(), ["three", "small", "words"]);
    });
}

/// A parked receiver that is cancelled reports that, with and without a limit.
// Proves: I5.
#[test]
fn a_cancelled_receiver_has_taken_nothing() {
    alone(|| {
        let (tx, rx) = bounded(1);
        let limited = {
            let rx = rx.clone();
            pirn::spawn(move || rx.recv_timeout(LONG))
        };
        pirn::yield_now();
        limited.cancel();
        let interrupted = RecvTimeoutError::Interrupted(Interrupt::Cancelled);
        assert_eq!(limited.join().unwrap(), Err(interrupted));
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            let receiver = s.spawn(|| {
                parked.fetch_add(1, Ordering::SeqCst);
                let interrupted = RecvError::Interrupted(Interrupt::Cancelled);
                assert_eq!(rx.recv(), Err(interrupted));
                // Sticky, and reported before the value that has arrived by now.
                tx.try_send(1).unwrap();
                assert_eq!(rx.recv(), Err(interrupted));
                let mut values = rx.iter();
                assert_eq!(values.next(), None);
                assert_eq!(values.interrupted(), Some(Interrupt::Cancelled));
                assert_eq!(rx.try_recv(), Ok(1));
            });
            until(&parked, 1);
            receiver.cancel();
            receiver.join().unwrap();
        });
    });
}

/// A parked sender that is cancelled reports that, with and without a limit.
// Proves: I5.
#[test]
fn a_cancelled_sender_gets_its_value_back() {
    alone(|| {
        let (tx, rx) = bounded(0);
        let limited = {
            let tx = tx.clone();
            pirn::spawn(move || tx.send_timeout(4, LONG))
        };
        pirn::yield_now();
        limited.cancel();
        let back = SendTimeoutError::Interrupted(4, Interrupt::Cancelled);
        assert_eq!(limited.join().unwrap(), Err(back));
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            let sender = s.spawn(|| {
                parked.fetch_add(1, Ordering::SeqCst);
                let back = SendError::Interrupted(5, Interrupt::Cancelled);
                assert_eq!(tx.send(5), Err(back));
                let back = SendTimeoutError::Interrupted(6, Interrupt::Cancelled);
                assert_eq!(tx.send_timeout(6, LONG), Err(back));
            });
            until(&parked, 1);
            sender.cancel();
            sender.join().unwrap();
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        });
    });
}

#[test]
fn an_interrupt_is_seen_before_room() {
    alone(|| {
        let (tx, rx) = bounded(1);
        let (started, cancelled) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            let sender = s.spawn(|| {
                started.fetch_add(1, Ordering::SeqCst);
                until(&cancelled, 1);
                let back = SendError::Interrupted(1, Interrupt::Cancelled);
                assert_eq!(tx.send(1), Err(back));
                tx.try_send(2).unwrap();
            });
            until(&started, 1);
            sender.cancel();
            cancelled.fetch_add(1, Ordering::SeqCst);
            sender.join().unwrap();
        });
        assert_eq!(rx.recv(), Ok(2));
    });
}

// Proves: A3.
#[test]
fn a_fiber_that_never_has_to_wait_lets_others_run() {
    alone(|| {
        let (tx, rx) = bounded(1);
        let ran = AtomicBool::new(false);
        pirn::scope(|s| {
            s.spawn(|| ran.store(true, Ordering::SeqCst));
            let mut operations = 0;
            while !ran.load(Ordering::SeqCst) {
                tx.send(()).unwrap();
                rx.recv().unwrap();
                operations += 2;
                assert!(operations < 1_000, "the other fiber starves");
            }
        });
    });
}

// Proves: I5.
#[test]
fn errors_give_the_value_back_and_say_why() {
    use std::error::Error;

    let interrupted = SendError::Interrupted("v", Interrupt::Cancelled);
    assert_eq!(
        interrupted.reason(),
        SendError::Interrupted((), Interrupt::Cancelled)
    );
    assert_eq!(Interrupt::of(&interrupted), Some(Interrupt::Cancelled));
    assert_eq!(interrupted.into_inner(), "v");
    let late = SendTimeoutError::from(SendError::Disconnected(1));
    assert_eq!(late, SendTimeoutError::Disconnected(1));
    assert!(late.is_disconnected() && late.source().is_none());
    assert!(TrySendError::Full(1).is_full() && !TrySendError::Full(1).is_disconnected());
    assert!(RecvTimeoutError::from(RecvError::Disconnected).is_disconnected());
    assert!(TryRecvError::Empty.is_empty());
    // No `Debug` of the value is required.
    struct Plain;
    assert_eq!(format!("{:?}", TrySendError::Full(Plain)), "Full(..)");
    assert_eq!(
        SendError::Disconnected(Plain).to_string(),
        "the channel is closed"
    );
}
