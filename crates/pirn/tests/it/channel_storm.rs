//! Channels under load. Every value is numbered, and every number is counted where it arrives: none
//! may be lost, doubled or invented.

use std::time::Duration;

use pirn::channel::{Receiver, Sender, TryRecvError, bounded};

use crate::channel_games::{CAPACITIES, Seen, cascade, close_amid, scramble};
use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs, runtime};

/// Four senders and four receivers that wait without limit.
fn exactly_once(workers: usize) {
    const PARTIES: usize = 4;
    const EACH: usize = 3_500;
    for executor in EXECUTOR_KINDS {
        for capacity in CAPACITIES {
            let seen = Seen::new(PARTIES * EACH);
            let (tx, rx) = bounded(capacity);
            let mut jobs = Jobs::new();
            for party in 0..PARTIES {
                // Pairs change sides, so that a mixture has both ends on fibers and threads.
                let (tx, rx, seen) = (tx.clone(), rx.clone(), &seen);
                let send = move || {
                    let first = party * EACH;
                    (first..first + EACH).for_each(|i| tx.send(i).unwrap());
                };
                let receive = move || rx.iter().for_each(|value| seen.mark(value));
                if party % 2 == 0 {
                    jobs.add(send);
                    jobs.add(receive);
                } else {
                    jobs.add(receive);
                    jobs.add(send);
                }
            }
            drop((tx, rx));
            jobs.run(executor, workers);
            assert_eq!(
                seen.count(),
                PARTIES * EACH,
                "{executor:?} capacity {capacity}"
            );
        }
    }
}

// Proves: I1.
#[test]
fn exactly_once_on_1_worker() {
    exactly_once(1);
}

// Proves: I1.
#[test]
fn exactly_once_on_2_workers() {
    exactly_once(2);
}

// Proves: I1.
#[test]
fn exactly_once_on_4_workers() {
    exactly_once(4);
}

// Proves: F2, F-X-free (free), I1.
#[test]
fn exactly_once_on_8_workers() {
    exactly_once(8);
}

/// Sends in one of three ways after another until the value is sent. (Two parties that only call
/// the try variants would never meet on a channel without a buffer.)
fn send_somehow(tx: &Sender<usize>, value: usize, how: usize) {
    let (mut value, mut how) = (value, how);
    loop {
        let back = match how % 3 {
            0 => tx.send(value).err().map(|back| back.into_inner()),
            1 => tx.try_send(value).err().map(|back| back.into_inner()),
            _ => {
                let limit = Duration::from_micros((how % 64) as u64);
                tx.send_timeout(value, limit)
                    .err()
                    .map(|back| back.into_inner())
            }
        };
        match back {
            None => return,
            Some(back) => value = back,
        }
        how += 1;
        pirn::yield_now();
    }
}

/// Receives in one of three ways after another; `None` when the channel has ended.
fn recv_somehow(rx: &Receiver<usize>, how: usize) -> Option<usize> {
    let mut how = how;
    loop {
        let answer = match how % 3 {
            0 => rx.recv().map_err(|_| true),
            1 => rx
                .try_recv()
                .map_err(|error| error == TryRecvError::Disconnected),
            _ => {
                let limit = Duration::from_micros((how % 64) as u64);
                rx.recv_timeout(limit)
                    .map_err(|error| error.is_disconnected())
            }
        };
        match answer {
            Ok(value) => return Some(value),
            Err(true) => return None,
            Err(false) => {
                how += 1;
                pirn::yield_now();
            }
        }
    }
}

/// Waits with a limit that expires just as a partner arrives.
fn limits(workers: usize) {
    const PARTIES: usize = 3;
    const EACH: usize = 5_000;
    for executor in EXECUTOR_KINDS {
        for capacity in CAPACITIES {
            let seen = Seen::new(PARTIES * EACH);
            let (tx, rx) = bounded(capacity);
            let mut jobs = Jobs::new();
            for party in 0..PARTIES {
                let (tx, rx, seen) = (tx.clone(), rx.clone(), &seen);
                let first = party * EACH;
                jobs.add(move || {
                    for i in first..first + EACH {
                        send_somehow(&tx, i, scramble(party, i));
                    }
                });
                jobs.add(move || {
                    let mut step = 0;
                    while let Some(value) = recv_somehow(&rx, scramble(party, step)) {
                        seen.mark(value);
                        step += 1;
                    }
                });
            }
            drop((tx, rx));
            jobs.run(executor, workers);
            assert_eq!(
                seen.count(),
                PARTIES * EACH,
                "{executor:?} capacity {capacity}"
            );
        }
    }
}

#[test]
fn waits_that_run_out_lose_nothing_on_1_worker() {
    limits(1);
}

// Proves: I19.
#[test]
fn waits_that_run_out_lose_nothing_on_2_workers() {
    limits(2);
}

// Proves: F5, I6.
#[test]
fn waits_that_run_out_lose_nothing_on_4_workers() {
    limits(4);
}

#[test]
fn waits_that_run_out_lose_nothing_on_8_workers() {
    limits(8);
}

// Proves: I8, I13.
#[test]
fn close_cascades_through_pipelines() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            for capacity in CAPACITIES {
                cascade(executor, workers, capacity, 800);
            }
        }
    }
}

// Proves: A9, I12.
#[test]
fn a_close_amid_traffic_splits_it_cleanly() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            for capacity in CAPACITIES {
                close_amid(executor, workers, capacity, 25);
            }
        }
    }
}

/// Cancels senders and receivers at any moment of their waits.
// Proves: F9, I6.
#[test]
fn cancellation_loses_no_value() {
    const EACH: usize = 500;
    const ROUNDS: usize = 40;
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        for capacity in [0, 1, 3] {
            for round in 0..ROUNDS {
                let (tx, rx) = bounded(capacity);
                let (sent, seen) = (Seen::new(4 * EACH), Seen::new(4 * EACH));
                runtime.scope(|s| {
                    let mut victims = Vec::new();
                    for sender in 0..4 {
                        let (tx, sent) = (tx.clone(), &sent);
                        victims.push(s.spawn(move || {
                            for value in sender * EACH..(sender + 1) * EACH {
                                if tx.send(value).is_err() {
                                    return;
                                }
                                sent.mark(value);
                            }
                        }));
                    }
                    drop(tx);
                    for _ in 0..3 {
                        let (rx, seen) = (rx.clone(), &seen);
                        let receive =
                            move || rx.iter().for_each(|value| seen.mark(value));
                        victims.push(s.spawn(receive));
                    }
                    for (index, victim) in victims.iter().enumerate() {
                        for _ in 0..scramble(index, round) % 40 {
                            pirn::yield_now();
                        }
                        // One receiver stays, so that the uncancelled senders end.
                        if index != 6 && !scramble(round, index).is_multiple_of(3) {
                            victim.cancel();
                        }
                    }
                });
                rx.try_iter().for_each(|value| seen.mark(value));
                for value in 0..4 * EACH {
                    assert_eq!(sent.has(value), seen.has(value), "value {value}");
                }
            }
        }
    }
}

/// Receives in each of the ways that take out one or several values.
fn recv_any_way(rx: &Receiver<usize>, how: usize, mut take: impl FnMut(usize)) -> bool {
    match how % 4 {
        0 => match rx.recv() {
            Ok(value) => take(value),
            Err(_) => return false,
        },
        1 => match rx.try_recv() {
            Ok(value) => take(value),
            Err(TryRecvError::Disconnected) => return false,
            Err(TryRecvError::Empty) => pirn::yield_now(),
        },
        2 => {
            let mut many = Vec::new();
            if rx.recv_many(&mut many, 5).is_err() {
                return false;
            }
            many.into_iter().for_each(take);
        }
        _ => {
            let (_open, never) = bounded::<()>(0);
            pirn::select! {
                recv(rx) -> value => match value {
                    Ok(value) => take(value),
                    Err(_) => return false,
                },
                recv(never) -> _ => unreachable!("no value comes there"),
            }
        }
    }
    true
}

/// Values take every way from many senders to many receivers: each receiver sees those of one
/// sender in order, all arrive once, and the capacity is never exceeded.
fn order_in_a_crowd(executor: ExecutorKind, workers: usize, capacity: usize) {
    const PARTIES: usize = 3;
    const EACH: usize = 6_000;
    let seen = Seen::new(PARTIES * EACH);
    let (tx, rx) = bounded(capacity);
    let mut jobs = Jobs::new();
    for party in 0..PARTIES {
        let (tx, rx, seen) = (tx.clone(), rx.clone(), &seen);
        jobs.add(move || {
            let mine = party * EACH..(party + 1) * EACH;
            if party == 0 {
                tx.send_many(&mut mine.collect()).unwrap();
            } else {
                mine.for_each(|i| tx.send(i).unwrap());
            }
        });
        jobs.add(move || {
            let mut next = [0; PARTIES];
            let mut how = party;
            while recv_any_way(&rx, how / 50, |value| {
                let (from, number) = (value / EACH, value % EACH);
                assert!(number >= next[from], "{number} of {from} is late");
                next[from] = number + 1;
                seen.mark(value);
            }) {
                assert!(rx.len() <= capacity, "{} in {capacity} places", rx.len());
                how += 1;
            }
        });
    }
    drop((tx, rx));
    jobs.run(executor, workers);
    assert_eq!(seen.count(), PARTIES * EACH);
}

// Proves: I4.
#[test]
fn a_crowd_keeps_each_senders_order() {
    for workers in [1, 2, 4] {
        for executor in EXECUTOR_KINDS {
            for capacity in [1, 2, 100, 1_000] {
                order_in_a_crowd(executor, workers, capacity);
            }
        }
    }
}

/// The only receiver of a channel has a lower bound for the number of values in it.
#[test]
fn what_is_there_is_never_overlooked() {
    const PLACES: usize = 8;
    let (tx, rx) = bounded(PLACES);
    (0..PLACES).for_each(|value| tx.send(value).unwrap());
    let mut jobs = Jobs::new();
    jobs.add(move || {
        for value in 0..3_000_000 {
            // Displaces the oldest, so that the number does not shrink.
            tx.force_send(value).unwrap();
        }
    });
    jobs.add(move || {
        loop {
            if rx.len() > PLACES - 2 && rx.recv().is_err() {
                break;
            }
            let len = rx.len();
            if rx.is_closed() {
                break;
            }
            assert!((PLACES - 2..=PLACES).contains(&len), "{len} seen");
            assert!(!rx.is_empty() || rx.is_closed());
        }
    });
    jobs.run(ExecutorKind::Threads, 1);
}
