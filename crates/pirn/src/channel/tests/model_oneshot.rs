//! Models of the shipped oneshot channel. The receiver outlives the threads: loom does not model
//! the ordering that an `Arc`'s count provides.

use std::time::Duration;

use super::stage::Cast;
use crate::base::tests::explore::explore;
use crate::channel::{RecvTimeoutError, oneshot};

// Proves: I21.
#[test]
fn model_oneshot_send_against_receive() {
    explore("oneshot_send", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = oneshot::channel();
        cast.start(move || tx.send(7).unwrap());
        assert_eq!(cast.play(|| rx.wait(None)), Ok(7));
        cast.end();
    });
}

#[test]
fn model_oneshot_sender_goes() {
    explore("oneshot_sender_goes", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = oneshot::channel::<u32>();
        cast.start(move || drop(tx));
        assert_eq!(
            cast.play(|| rx.wait(None)),
            Err(RecvTimeoutError::Disconnected)
        );
        cast.end();
    });
}

/// A sender waits until the receiver is gone.
#[test]
fn model_oneshot_receiver_goes() {
    explore("oneshot_receiver_goes", 3, || {
        let mut cast = Cast::new();
        let (tx, rx) = oneshot::channel::<u32>();
        cast.start(move || drop(rx));
        assert_eq!(cast.play(|| tx.closed()), Ok(()));
        assert!(tx.is_closed());
        cast.end();
    });
}

/// The receiver gives up and is dropped: the value is with one of the two ends.
#[test]
fn model_oneshot_deadline_against_send() {
    explore("oneshot_deadline", 3, || {
        let mut cast = Cast::new();
        let (tx, mut rx) = oneshot::channel();
        cast.start(move || {
            let _ = tx.send(7);
        });
        let received = cast.play(|| rx.recv_timeout(Duration::from_secs(1)));
        if received.is_err() {
            rx.close();
            // A value sent before the close is still there.
            assert!(matches!(rx.try_recv(), Ok(7) | Err(_)));
        }
        cast.end();
    });
}
