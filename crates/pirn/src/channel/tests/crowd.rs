//! The exit of a channel (`recv_batch`): when values pass through it, and when they no longer do.

use std::mem::offset_of;

use crate::channel::case::{ReadyCase, SendCase};
use crate::channel::recv_batch::RecvBatch;
use crate::channel::shared::Shared;
use crate::channel::state::{Side, State};
use crate::shim::Lock;
use crate::wait::tests::publish::joins;

/// Returns a channel in the state after threads have contended: the second of two values was moved
/// to the exit, and both have been taken.
fn crowded(capacity: usize) -> Shared<usize> {
    let shared = Shared::new(Some(capacity), None);
    shared.state.lock().crowded = u8::MAX;
    shared.try_send(1).unwrap();
    shared.try_send(2).unwrap();
    assert_eq!(shared.recv(None).unwrap(), 1);
    assert_eq!(shared.exit.len(), 1);
    assert_eq!(shared.recv(None).unwrap(), 2);
    shared
}

fn is_disabled(shared: &Shared<usize>) -> bool {
    let state = shared.state.lock();
    state.crowded == 0 && !shared.exit.is_used() && state.ahead == 0
}

#[test]
fn receivers_that_meet_no_other_disable_batches() {
    let ways: [fn(&Shared<usize>) -> usize; 2] = [
        |shared| shared.recv(None).unwrap(),
        |shared| shared.try_recv().unwrap(),
    ];
    for way in ways {
        let shared = crowded(4);
        assert!(!is_disabled(&shared));
        for value in 0..1_000 {
            shared.try_send(value).unwrap();
            assert_eq!(way(&shared), value);
        }
        assert!(is_disabled(&shared));
    }
}

#[test]
fn receivers_that_find_nothing_disable_batches_too() {
    let shared = crowded(4);
    (0..1_000).for_each(|_| assert!(shared.try_recv().is_err()));
    assert!(is_disabled(&shared));
}

#[test]
fn what_is_at_the_exit_counts() {
    let shared = crowded(4);
    (0..4).for_each(|value| shared.try_send(value).unwrap());
    assert_eq!(shared.recv(None).unwrap(), 0);
    assert_eq!((shared.exit.len(), shared.len()), (3, 3));
    assert!(!shared.is_full() && !shared.looks_empty());
    shared.try_send(4).unwrap();
    assert!(shared.is_full());
    assert!(shared.try_send(5).is_err());
    assert_eq!(shared.force_send(5).unwrap(), Some(1));
    assert_eq!((shared.exit.len(), shared.len()), (0, 4));
    let rest: Vec<usize> = (0..4).map(|_| shared.try_recv().unwrap()).collect();
    assert_eq!(rest, [2, 3, 4, 5]);
}

#[test]
fn a_value_that_was_tried_for_counts_no_more() {
    let shared = crowded(4);
    shared.try_send(1).unwrap();
    assert!(!shared.looks_empty());
    assert_eq!(shared.try_recv().unwrap(), 1);
    assert!(shared.looks_empty());
}

/// Receivers that take from the exit wake no sender. So before a party waits for room, the values
/// there go back to the buffer.
#[test]
fn nothing_is_at_the_exit_of_a_channel_that_is_watched_for_room() {
    let full = || {
        let shared = crowded(2);
        shared.try_send(1).unwrap();
        shared.try_send(2).unwrap();
        assert_eq!(shared.recv(None).unwrap(), 1);
        shared.try_send(3).unwrap();
        assert_eq!((shared.exit.len(), shared.len()), (1, 2));
        shared
    };
    let shared = full();
    assert!(joins(&ReadyCase::new(&shared, Side::Send)));
    assert_eq!((shared.exit.len(), shared.len()), (0, 2));
    let shared = full();
    assert!(joins(&SendCase::new(&shared, 4)));
    assert_eq!((shared.exit.len(), shared.len()), (0, 2));
}

/// Receivers take from the exit while senders change the state.
// Proves: C16.
#[test]
fn the_exit_shares_no_line_with_the_state() {
    let (exit, state) = (offset_of!(Shared<u8>, exit), offset_of!(Shared<u8>, state));
    let end = exit + size_of::<RecvBatch<u8>>().next_multiple_of(128);
    assert_eq!((align_of::<Shared<u8>>(), exit % 128), (128, 0));
    assert!(state + size_of::<Lock<State<u8>>>() <= exit || state >= end);
}
