//! Return values of queries on channels and their errors.

use crate::Interrupt;
use crate::channel::{
    RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError, bounded, broadcast,
    ordered,
};

#[test]
fn errors_know_what_they_are() {
    let all = [TryRecvError::Empty, TryRecvError::Disconnected];
    let answers = all.map(|error| (error.is_empty(), error.is_disconnected()));
    assert_eq!(answers, [(true, false), (false, true)]);

    let all = [TrySendError::Full(1), TrySendError::Disconnected(1)];
    let answers = all.map(|error| (error.is_full(), error.is_disconnected()));
    assert_eq!(answers, [(true, false), (false, true)]);

    let all = [
        RecvTimeoutError::Timeout,
        RecvTimeoutError::Disconnected,
        RecvTimeoutError::Interrupted(Interrupt::Cancelled),
    ];
    let answers = all.map(|error| (error.is_timeout(), error.is_disconnected()));
    assert_eq!(answers, [(true, false), (false, true), (false, false)]);

    let all = [
        SendTimeoutError::Timeout(1),
        SendTimeoutError::Disconnected(1),
        SendTimeoutError::Interrupted(1, Interrupt::TimedOut),
    ];
    let answers = all.map(|error| (error.is_timeout(), error.is_disconnected()));
    assert_eq!(answers, [(true, false), (false, true), (false, false)]);
}

#[test]
fn channels_know_how_they_stand() {
    let (tx, rx) = bounded(1);
    assert!(tx.is_empty() && rx.is_empty() && !tx.is_full() && !tx.is_closed());
    tx.try_send(1).unwrap();
    assert!(!tx.is_empty() && !rx.is_empty() && tx.is_full() && rx.is_full());
    assert!(tx.holds(|value| *value == 1) && !tx.holds(|value| *value == 2));
    assert!(tx.close() && !tx.close() && !rx.close());
    assert!(tx.is_closed() && rx.is_closed());

    let (tx, mut rx) = broadcast::channel(1);
    assert!(rx.is_empty());
    assert_eq!(tx.send(1), Ok(1));
    assert!(!rx.is_empty());
    assert!(tx.close() && !tx.close());
    assert_eq!(rx.try_recv(), Ok(1));
    assert!(rx.is_empty());

    let (tx, _rx) = ordered::<u8>(1);
    assert!(!tx.is_closed());
    assert!(tx.close() && tx.is_closed());
}
