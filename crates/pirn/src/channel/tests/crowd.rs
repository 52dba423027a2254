//! The exit of a channel (`recv_batch`): when values pass through it, and when they no longer do.

use std::mem::offset_of;

use crate::channel::case::{ReadyCase, SendCase};
use crate::channel::recv_batch::Exit;
use crate::channel::shared::Pipe;
use crate::channel::state::{Side, State};
use crate::shim::Lock;
use crate::wait::tests::publish::joins;

/// Returns a channel in the state after threads have contended: the second of two values was moved
/// to the exit, and both have been taken.
fn crowded(capacity: usize) -> Pipe<usize> {
    let pipe = Pipe::new(Some(capacity), None);
    pipe.state.lock().crowded = u8::MAX;
    pipe.try_send(1).unwrap();
    pipe.try_send(2).unwrap();
    assert_eq!(pipe.recv(None).unwrap(), 1);
    assert_eq!(pipe.exit.len(), 1);
    assert_eq!(pipe.recv(None).unwrap(), 2);
    pipe
}

fn is_disabled(pipe: &Pipe<usize>) -> bool {
    let state = pipe.state.lock();
    state.crowded == 0 && !pipe.exit.is_used() && state.ahead == 0
}

#[test]
fn receivers_that_meet_no_other_disable_batches() {
    let ways: [fn(&Pipe<usize>) -> usize; 2] = [
        |pipe| pipe.recv(None).unwrap(),
        |pipe| pipe.try_recv().unwrap(),
    ];
    for way in ways {
        let pipe = crowded(4);
        assert!(!is_disabled(&pipe));
        for value in 0..1_000 {
            pipe.try_send(value).unwrap();
            assert_eq!(way(&pipe), value);
        }
        assert!(is_disabled(&pipe));
    }
}

#[test]
fn receivers_that_find_nothing_disable_batches_too() {
    let pipe = crowded(4);
    (0..1_000).for_each(|_| assert!(pipe.try_recv().is_err()));
    assert!(is_disabled(&pipe));
}

#[test]
fn what_is_at_the_exit_counts() {
    let pipe = crowded(4);
    (0..4).for_each(|value| pipe.try_send(value).unwrap());
    assert_eq!(pipe.recv(None).unwrap(), 0);
    assert_eq!((pipe.exit.len(), pipe.len()), (3, 3));
    assert!(!pipe.is_full() && !pipe.looks_empty());
    pipe.try_send(4).unwrap();
    assert!(pipe.is_full());
    assert!(pipe.try_send(5).is_err());
    assert_eq!(pipe.force_send(5).unwrap(), Some(1));
    assert_eq!((pipe.exit.len(), pipe.len()), (0, 4));
    let rest: Vec<usize> = (0..4).map(|_| pipe.try_recv().unwrap()).collect();
    assert_eq!(rest, [2, 3, 4, 5]);
}

#[test]
fn a_value_that_was_tried_for_counts_no_more() {
    let pipe = crowded(4);
    pipe.try_send(1).unwrap();
    assert!(!pipe.looks_empty());
    assert_eq!(pipe.try_recv().unwrap(), 1);
    assert!(pipe.looks_empty());
}

/// Receivers that take from the exit wake no sender. So before a party waits for room, the values
/// there go back to the buffer.
#[test]
fn nothing_is_at_the_exit_of_a_channel_that_is_watched_for_room() {
    let full = || {
        let pipe = crowded(2);
        pipe.try_send(1).unwrap();
        pipe.try_send(2).unwrap();
        assert_eq!(pipe.recv(None).unwrap(), 1);
        pipe.try_send(3).unwrap();
        assert_eq!((pipe.exit.len(), pipe.len()), (1, 2));
        pipe
    };
    let pipe = full();
    assert!(joins(&ReadyCase::new(&pipe, Side::Send)));
    assert_eq!((pipe.exit.len(), pipe.len()), (0, 2));
    let pipe = full();
    assert!(joins(&SendCase::new(&pipe, 4)));
    assert_eq!((pipe.exit.len(), pipe.len()), (0, 2));
}

/// Receivers take from the exit while senders change the state.
// Proves: C16.
#[test]
fn the_exit_shares_no_line_with_the_state() {
    let (exit, state) = (offset_of!(Pipe<u8>, exit), offset_of!(Pipe<u8>, state));
    let end = exit + size_of::<Exit<u8>>().next_multiple_of(128);
    assert_eq!((align_of::<Pipe<u8>>(), exit % 128), (128, 0));
    assert!(state + size_of::<Lock<State<u8>>>() <= exit || state >= end);
}
