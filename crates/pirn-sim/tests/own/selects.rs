//! Selects, with arms in the code and with cases that are collected.

use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::Token;
use pirn::channel::{self, RecvError, SendError};
use pirn::select::Select;
use pirn::{Interrupt, scope, time};

use crate::{MOMENT, check};

/// A select over two channels receives each value once, in the order of each channel.
fn merge(capacity: usize) {
    let (one_tx, one) = channel::bounded(capacity);
    let (other_tx, other) = channel::bounded(capacity);
    scope(|s| {
        s.spawn(move || (0..3).for_each(|n| one_tx.send(n).unwrap()));
        s.spawn(move || (0..3).for_each(|n| other_tx.send(n).unwrap()));
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        let (mut one_ended, mut other_ended) = (false, false);
        while !(one_ended && other_ended) {
            pirn::select! {
                recv(one) -> value => match value {
                    Ok(value) => ones.push(value),
                    Err(error) => {
                        assert_eq!(error, RecvError::Disconnected);
                        one_ended = true;
                    }
                },
                recv(other) -> value => match value {
                    Ok(value) => others.push(value),
                    Err(error) => {
                        assert_eq!(error, RecvError::Disconnected);
                        other_ended = true;
                    }
                },
            }
        }
        assert_eq!((ones, others), (vec![0, 1, 2], vec![0, 1, 2]));
    });
}

// Proves: U30-selects.
#[test]
fn a_select_receives_from_both() {
    check(|| merge(0));
    check(|| merge(1));
}

/// Selects that send and receive on the same two channels, in opposite directions, always meet.
// Proves: U30-selects.
#[test]
fn selects_meet_each_other() {
    check(|| {
        let (left, right) = (channel::bounded(0), channel::bounded(0));
        let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for (to, from) in [(&left.0, &right.1), (&right.0, &left.1)] {
                let (sent, received) = (&sent, &received);
                s.spawn(move || {
                    for _ in 0..2 {
                        pirn::select! {
                            send(to, 1) -> result => {
                                result.unwrap();
                                sent.fetch_add(1, Ordering::Relaxed);
                            }
                            recv(from) -> value => {
                                received.fetch_add(value.unwrap(), Ordering::Relaxed);
                            }
                        }
                    }
                });
            }
        });
        assert_eq!((sent.into_inner(), received.into_inner()), (2, 2));
    });
}

/// One value for three selects over the same two channels, and then their end.
// Proves: U30-selects.
#[test]
fn one_of_many_selects_gets_a_value() {
    check(|| {
        let ((one_tx, one), (other_tx, other)) =
            (channel::bounded(0), channel::bounded(1));
        scope(|s| {
            let select = || {
                let (one, other) = (one.clone(), other.clone());
                s.spawn(move || {
                    pirn::select! {
                        recv(one) -> value => value,
                        recv(other) -> value => value,
                    }
                })
            };
            let selects = [select(), select(), select()];
            one_tx.send(1).unwrap();
            other_tx.send(2).unwrap();
            drop(one_tx);
            drop(other_tx);
            let mut all = selects.map(|it| it.join().unwrap());
            all.sort_unstable_by_key(|it| it.unwrap_or(0));
            let end = Err(RecvError::Disconnected);
            // After the end of one channel, the value of the other may not be taken.
            let rest = other.try_recv().ok();
            match rest {
                None => assert_eq!(all, [end, Ok(1), Ok(2)]),
                Some(value) => assert_eq!((all, value), ([end, end, Ok(1)], 2)),
            }
        });
    });
}

/// A select that does not wait completes one case, or none.
// Proves: U30-selects.
#[test]
fn a_select_with_a_default_loses_nothing() {
    check(|| {
        let (tx, rx) = channel::bounded(0);
        scope(|s| {
            s.spawn(move || {
                let mut next = 0;
                while next < 2 {
                    pirn::select! {
                        send(tx, next) -> sent => {
                            sent.unwrap();
                            next += 1;
                        }
                        default => pirn::yield_now(),
                    }
                }
            });
            assert_eq!(rx.iter().collect::<Vec<u32>>(), [0, 1]);
        });
    });
}

/// A limit that ends at the moment at which a value comes: the value is received now or later.
// Proves: U30-selects.
#[test]
fn a_select_with_a_limit_loses_nothing() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        let (done, end) = channel::bounded::<()>(0);
        scope(|s| {
            s.spawn(move || {
                for n in 0..2 {
                    time::sleep(MOMENT).unwrap();
                    tx.send(n).unwrap();
                }
                drop(done);
            });
            let mut all = Vec::new();
            let mut limits = 0;
            while all.len() < 2 {
                pirn::select! {
                    recv(rx) -> value => all.push(value.unwrap()),
                    after(MOMENT) => limits += 1,
                }
            }
            assert!(limits <= 2, "{limits}");
            assert_eq!(all, [0, 1]);
            assert_eq!(end.recv(), Err(RecvError::Disconnected));
        });
    });
}

/// An arm for the end of a fiber beside its values.
// Proves: U30-selects.
#[test]
fn a_select_sees_the_end_of_a_fiber() {
    check(|| {
        let (tx, rx) = channel::bounded(2);
        let fiber = pirn::spawn(move || {
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            3
        });
        let mut sum = 0;
        loop {
            pirn::select! {
                recv(rx) -> value => match value {
                    Ok(value) => sum += value,
                    Err(_) => break,
                },
                join(fiber) => break,
            }
        }
        assert!(fiber.wait().is_ok() && fiber.is_finished());
        sum += rx.iter().sum::<u32>() + fiber.join().unwrap();
        assert_eq!(sum, 6);
    });
}

/// A cancellation goes to its arm, and nothing is sent or received then.
// Proves: U30-selects.
#[test]
fn a_cancelled_select_has_done_nothing() {
    check(|| {
        let ((tx, rx), (out, input)) = (channel::bounded(0), channel::bounded(0));
        let token = Token::new();
        scope(|s| {
            let canceller = token.clone();
            s.spawn(move || canceller.cancel());
            let sender = s.spawn(move || tx.send(1));
            let receiver = s.spawn(move || input.recv());
            let done = token.enter(|| {
                pirn::select! {
                    recv(rx) -> value => Some(value.map_or(0, |value| value)),
                    send(out, 2) -> sent => sent.ok().map(|()| 2),
                    cancelled(interrupt) => {
                        assert_eq!(interrupt, Interrupt::Cancelled);
                        None
                    }
                }
            });
            drop((rx, out));
            let (sent, received) = (sender.join().unwrap(), receiver.join().unwrap());
            assert_eq!(sent.is_ok(), done == Some(1), "{sent:?} {done:?}");
            assert_eq!(received.is_ok(), done == Some(2), "{received:?} {done:?}");
        });
    });
}

/// An unpark ends a select once.
// Proves: U30-selects.
#[test]
fn a_select_takes_the_token() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        let own = pirn::current();
        scope(|s| {
            s.spawn(move || own.unpark());
            s.spawn(move || tx.send(7).unwrap());
            let (mut parked, mut received) = (0, 0);
            while parked + received < 2 {
                pirn::select! {
                    recv(rx) -> value => match value {
                        Ok(value) => {
                            assert_eq!(value, 7);
                            received += 1;
                        }
                        // The channel has ended; the token may be missing.
                        Err(_) => {
                            pirn::park();
                            parked += 1;
                        }
                    },
                    parked() => parked += 1,
                    cancelled(interrupt) => unreachable!("{interrupt}"),
                }
            }
            assert_eq!((parked, received), (1, 1));
        });
    });
}

/// Cases that are collected: a value stays in the case until it is sent.
// Proves: U30-selects.
#[test]
fn collected_cases_keep_what_they_did_not_send() {
    check(|| {
        let channels: [_; 3] = std::array::from_fn(|_| channel::bounded(0));
        let (done, end) = channel::bounded::<()>(0);
        scope(|s| {
            let receivers = channels.each_ref().map(|(_, rx)| {
                let (rx, end) = (rx.clone(), end.clone());
                s.spawn(move || {
                    pirn::select! {
                        recv(rx) -> value => value.ok(),
                        recv(end) -> _ => None,
                    }
                })
            });
            let mut cases: Vec<_> = channels
                .iter()
                .zip(1..)
                .map(|((tx, _), n)| tx.send_case(n))
                .collect();
            let mut sent = Vec::new();
            for _ in 0..2 {
                let mut select = Select::new();
                for case in &mut cases {
                    select.add(case);
                }
                let index = select.wait().unwrap();
                let mut case = cases.swap_remove(index);
                assert_eq!(case.take(), Ok(()));
                sent.push(());
            }
            drop(done);
            let left: u32 = cases.into_iter().filter_map(|case| case.reclaim()).sum();
            let received = receivers.map(|it| it.join().unwrap());
            let received: u32 = received.into_iter().flatten().sum();
            assert_eq!((sent.len(), left + received), (2, 6));
            assert!((1..=3).contains(&left));
        });
    });
}

/// A biased select takes the first case that is ready.
// Proves: U30-selects.
#[test]
fn a_biased_select_takes_the_first() {
    check(|| {
        let ((first_tx, first), (second_tx, second)) =
            (channel::bounded(1), channel::bounded(1));
        scope(|s| {
            s.spawn(move || {
                first_tx.send(1).unwrap();
                second_tx.send(2).unwrap();
            });
            let mut all = Vec::new();
            while all.len() < 2 {
                pirn::select! {
                    biased;
                    recv(first) -> value => all.extend(value.ok().or_else(|| second.recv().ok())),
                    recv(second) -> value => all.extend(value),
                }
            }
            // The first value was there before the second one.
            assert_eq!(all, [1, 2]);
        });
    });
}

/// Sends to a channel that is closed meanwhile.
// Proves: U30-selects.
#[test]
fn a_select_notices_a_close() {
    check(|| {
        let ((tx, rx), (never_tx, never)) =
            (channel::bounded(0), channel::bounded::<u32>(0));
        scope(|s| {
            s.spawn(move || drop(rx));
            pirn::select! {
                send(tx, 7) -> sent => assert_eq!(sent, Err(SendError::Disconnected(7))),
                recv(never) -> _ => unreachable!("nothing is sent"),
            }
            drop(never_tx);
        });
    });
}
