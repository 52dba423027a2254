//! Models of the shipped pipe: hand-over, close and deadlines against each other. Whatever
//! comes first, a value is received or comes back, once, and nobody waits for ever.

use std::sync::Arc;
use std::time::Duration;

use super::stage::Cast;
use crate::base::tests::explore::explore;
use crate::channel::{Receiver, RecvError, SendTimeoutError, bounded};

/// A rendezvous: the send ends with its transfer.
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

/// The last sender goes while the receiver waits or is about to.
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

/// A close against a sender that is parked or about to park, on a channel that is full: its
/// send succeeds iff the value is received.
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
#[test]
fn model_pipe_deadline_against_receiver() {
    explore("pipe_deadline", 2, || {
        let mut cast = Cast::new();
        let (tx, rx) = bounded(0);
        cast.start(move || match tx.send_timeout(7, Duration::from_secs(1)) {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(7)) => {
                // The receiver is still to be served.
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
