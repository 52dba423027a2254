//! Models of the shipped channel: hand-over, close and deadlines against each other. In every order, a
//! value is received or returned exactly once, and no party waits indefinitely.

use std::sync::Arc;
use std::time::Duration;

use super::stage::Cast;
use crate::base::tests::explore::explore;
use crate::channel::{Receiver, RecvError, SendTimeoutError, bounded};

/// A rendezvous: the send ends with its transfer.
// Proves: I2, I9.
#[test]
fn model_pipe_rendezvous() {
    explore("pipe_rendezvous", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(0);
        cast.start(move || tx.send(7).unwrap());
        assert_eq!(cast.play(|| rx.recv()), Ok(7));
        cast.end();
    });
}

/// Two senders through one place: both values arrive, each sender's only one.
// Proves: I9.
#[test]
fn model_pipe_two_senders_one_place() {
    explore("pipe_two_senders", 2, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(1);
        let other = tx.clone();
        cast.start(move || tx.send(1).unwrap());
        cast.start(move || other.send(2).unwrap());
        let sum: u32 = cast.play(|| rx.recv().unwrap() + rx.recv().unwrap());
        assert_eq!(sum, 3);
        cast.end();
    });
}

/// A sender that finds the channel full because of values at the exit, against the receiver that
/// takes them. The send ends once there is room.
// Proves: I9.
#[test]
fn model_pipe_exit_against_sender_that_waits() {
    explore("pipe_exit_sender", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(2);
        tx.try_send(1).unwrap();
        tx.try_send(2).unwrap();
        cast.start(move || {
            tx.send(3).unwrap();
            tx.send(4).unwrap();
        });
        assert_eq!(cast.play(|| [rx.recv(), rx.recv()]), [Ok(1), Ok(2)]);
        cast.end();
        assert_eq!([rx.try_recv(), rx.try_recv()], [Ok(3), Ok(4)]);
    });
}

/// A receiver that moves values to the exit, against another that is about to wait.
// Proves: I9.
#[test]
fn model_pipe_exit_against_receiver_that_waits() {
    explore("pipe_exit_receiver", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(2);
        let other = rx.clone();
        tx.try_send(1).unwrap();
        tx.try_send(2).unwrap();
        cast.start(move || assert!(other.recv().is_ok()));
        assert!(cast.play(|| rx.recv()).is_ok());
        cast.end();
        assert!(rx.is_empty());
        drop(tx);
    });
}

/// Values at the exit, two receivers and a sender: each value arrives once, in order.
#[test]
fn model_pipe_exit_between_receivers() {
    explore("pipe_exit", 2, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(2);
        let other = rx.clone();
        tx.try_send(1).unwrap();
        tx.try_send(2).unwrap();
        cast.start(move || {
            tx.send(3).unwrap();
            tx.send(4).unwrap();
        });
        let seen = Arc::new(crate::shim::Lock::new(0));
        let theirs = Arc::clone(&seen);
        cast.start(move || *theirs.lock() = other.recv().unwrap());
        let mine = cast.play(|| [(); 3].map(|()| rx.recv().unwrap()));
        cast.end();
        assert!(mine.is_sorted(), "{mine:?}");
        assert_eq!(mine.iter().sum::<u32>() + *seen.lock(), 10);
        assert!(rx.is_empty());
    });
}

/// The same against a close: admitted values are received, also through the exit.
#[test]
fn model_pipe_exit_against_close() {
    explore("pipe_exit_close", 2, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(3);
        (1..=3).for_each(|value| tx.try_send(value).unwrap());
        cast.start(move || assert!(tx.close()));
        let other = rx.clone();
        let seen = Arc::new(crate::shim::Lock::new(0));
        let theirs = Arc::clone(&seen);
        cast.start(move || *theirs.lock() = drain(&other));
        let mine = cast.play(|| drain(&rx));
        cast.end();
        assert_eq!(mine + *seen.lock(), 3);
    });
}

/// The last sender is dropped while the receiver waits or is about to.
#[test]
fn model_pipe_last_sender_against_receiver() {
    explore("pipe_last_sender", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded::<u32>(0);
        cast.start(move || drop(tx));
        assert_eq!(cast.play(|| rx.recv()), Err(RecvError::Disconnected));
        cast.end();
    });
}

/// A sender waits until the channel is closed: by a close, or by the end of the last receiver.
#[test]
fn model_pipe_end_against_waiting_sender() {
    explore("pipe_end", 2, || {
        for close in [true, false] {
            let mut cast = Cast::new();
            let (tx, rx) = bounded::<u32>(1);
            cast.start(move || {
                if close {
                    assert!(rx.close());
                }
                drop(rx);
            });
            assert_eq!(cast.play(|| tx.closed()), Ok(()));
            assert!(tx.is_closed());
            cast.end();
        }
    });
}

/// A close against a sender that is parked or about to park, on a channel that is full: its
/// send succeeds iff the value is received.
// Proves: I9.
#[test]
fn model_pipe_close_against_parked_sender() {
    explore("pipe_close_full", 2, || close_against_sender(1));
}

/// The same on a rendezvous channel.
#[test]
fn model_pipe_close_against_rendezvous() {
    explore("pipe_close_rendezvous", 2, || close_against_sender(0));
}

fn close_against_sender(capacity: usize) {
    let mut cast = Cast::new();
    let (tx, rx) = bounded(capacity);
    (0..capacity).for_each(|_| tx.try_send(0).unwrap());
    let outcome = Arc::new(crate::shim::Lock::new(None));
    let seen = Arc::clone(&outcome);
    let open = tx.clone();
    cast.start(move || *seen.lock() = Some(tx.send(1).is_ok()));
    let end = rx.clone();
    cast.start(move || assert!(end.close()));
    let received = cast.play(|| drain(&rx));
    cast.end();
    drop(open);
    let sent = outcome.lock().expect("the sender has ended");
    assert_eq!(received, capacity + usize::from(sent));
}

/// The deadline of a send against a receiver: exactly one of them has the value.
// Proves: I6.
#[test]
fn model_pipe_deadline_against_receiver() {
    explore("pipe_deadline", 2, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(0);
        cast.start(move || match tx.send_timeout(7, Duration::from_secs(1)) {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(7)) => {
                // The value is still to be received.
                tx.send(7).unwrap();
            }
            Err(error) => panic!("{error:?}"),
        });
        assert_eq!(cast.play(|| rx.recv()), Ok(7));
        assert!(cast.play(|| rx.recv()).is_err());
        cast.end();
    });
}

fn drain(rx: &Receiver<u32>) -> usize {
    let mut count = 0;
    while rx.recv().is_ok() {
        count += 1;
    }
    count
}
