//! Whether the cases of a select join the queues of their objects.

use std::pin::Pin;

use crate::cancel::Token;
use crate::channel::{bounded, broadcast, oneshot, watch};
use crate::fiber::state::Code;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::park::ticket;

/// Publishes `case` and withdraws it again. Returns true if it had joined a queue.
pub(crate) fn joins(case: &dyn Case) -> bool {
    let call = Call {
        ticket: ticket(),
        code: Code::case(0),
    };
    // SAFETY: withdrawn below, before the case moves or ends.
    let case = unsafe { Pin::new_unchecked(case) };
    let joined = case.publish(call);
    if let Some(wake) = call.ticket.claim(Code::RETRY) {
        wake.enqueue();
    }
    if joined {
        case.withdraw(call, Outcome::Lost);
    }
    joined
}

/// Twice: a case that was left in a queue by mistake panics when it joins again.
#[track_caller]
fn is_possible(case: &dyn Case) {
    assert!(!joins(case) && !joins(case), "it waits beside an event");
    assert!(case.attempt());
}

#[track_caller]
fn is_not_possible(case: &dyn Case) {
    assert!(!case.attempt());
    assert!(joins(case) && joins(case), "it does not wait");
}

#[test]
fn a_token_is_joined_until_it_is_cancelled() {
    let token = Token::new();
    let case = token.case();
    is_not_possible(&case);
    token.cancel();
    is_possible(&case);
}

#[test]
fn a_broadcast_channel_is_joined_at_its_end() {
    let (tx, mut rx) = broadcast::channel(2);
    let mut case = rx.recv_case();
    is_not_possible(&case);
    assert_eq!(tx.send(7), Ok(1));
    is_possible(&case);
    assert_eq!(case.take(), Ok(7));
    is_not_possible(&case);
    assert!(tx.close());
    is_possible(&case);
}

#[test]
fn a_watch_channel_is_joined_until_it_changes() {
    let (tx, mut rx) = watch::channel(0);
    let mut case = rx.changed_case();
    is_not_possible(&case);
    tx.send(1).unwrap();
    is_possible(&case);
    assert_eq!(case.take(), Ok(()));
    is_not_possible(&case);
    drop(tx);
    is_possible(&case);
}

#[test]
fn a_oneshot_channel_is_joined_while_it_is_empty() {
    let (tx, rx) = oneshot::channel();
    let mut case = rx.recv_case();
    is_not_possible(&case);
    assert_eq!(tx.send(7), Ok(()));
    is_possible(&case);
    assert_eq!(case.take(), Ok(7));

    let (tx, rx) = oneshot::channel::<u8>();
    drop(tx);
    is_possible(&rx.recv_case());

    let (_tx, mut rx) = oneshot::channel::<u8>();
    rx.close();
    is_possible(&rx.recv_case());
}

#[test]
fn both_sides_of_a_channel_are_watched_until_they_are_ready() {
    let (tx, rx) = bounded(1);
    is_possible(&tx.ready_case());
    is_not_possible(&rx.ready_case());
    tx.try_send(7).unwrap();
    is_not_possible(&tx.ready_case());
    is_possible(&rx.ready_case());
    assert!(tx.close());
    is_possible(&tx.ready_case());
    assert_eq!(rx.try_recv(), Ok(7));
    is_possible(&rx.ready_case());
}
