//! Selects by the million: in rings, over rendezvous channels, against close and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel::{self, Receiver, Sender, bounded};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};
use crate::util::{LONG, scaled};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// A ring of 16 selects over 16 rendezvous channels: each receives from both neighbors and sends to
/// both, so two neighbors that wait always meet. None waits for long; sends and receives balance.
// Proves: J8.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn a_ring_of_selects_in_both_directions() {
    for (executor, part) in EXECUTOR_KINDS.into_iter().zip([1, 20, 20]) {
        for workers in WORKERS {
            let rounds = scaled(1_000_000) / 16 / 4 / part;
            let channels: Vec<_> = (0..16).map(|_| bounded::<usize>(0)).collect();
            let balance = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let (going, done) = (Arc::new(AtomicUsize::new(16)), bounded::<()>(0));
            let mut jobs = Jobs::new();
            for i in 0..16 {
                let (left, right) = (channels[i].clone(), channels[(i + 1) % 16].clone());
                let (balance, going) = (Arc::clone(&balance), Arc::clone(&going));
                let done = done.clone();
                jobs.add(move || {
                    let [sent, received] =
                        ring_member(&left, &right, rounds, &going, &done);
                    balance[0].fetch_add(sent, Ordering::SeqCst);
                    balance[1].fetch_add(received, Ordering::SeqCst);
                });
            }
            drop(channels);
            jobs.run(executor, workers);
            let [sent, received] = [0, 1].map(|i| balance[i].load(Ordering::SeqCst));
            assert_eq!(sent, received);
            assert!(sent >= 16 * rounds / 2, "{sent} of {}", 16 * rounds / 2);
        }
    }
}

/// Continues until every member has completed its rounds, so that each one has a partner; the last
/// one closes `done`.
fn ring_member(
    left: &(Sender<usize>, Receiver<usize>),
    right: &(Sender<usize>, Receiver<usize>),
    rounds: usize,
    going: &AtomicUsize,
    done: &(Sender<()>, Receiver<()>),
) -> [usize; 2] {
    let (mut sent, mut received) = (0, 0);
    loop {
        pirn::select! {
            recv(left.1) -> value => { value.unwrap(); received += 1 }
            send(left.0, sent) -> end => { end.unwrap(); sent += 1 }
            recv(right.1) -> value => { value.unwrap(); received += 1 }
            send(right.0, sent) -> end => { end.unwrap(); sent += 1 }
            recv(done.1) -> _ => return [sent, received],
            after(LONG) => panic!("a select stalled"),
        }
        if sent + received == rounds && going.fetch_sub(1, Ordering::SeqCst) == 1 {
            done.0.close();
        }
    }
}

/// Selecting senders and selecting receivers on channels of every kind; exactly once.
// Proves: J1.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn selects_move_everything_exactly_once() {
    for (executor, part) in EXECUTOR_KINDS.into_iter().zip([1, 10, 10]) {
        for workers in WORKERS {
            for capacity in [Some(0), Some(1), Some(2), Some(8), None] {
                let n = scaled(200_000) / part / 4;
                exactly_once(executor, workers, capacity, n);
            }
        }
    }
}

fn exactly_once(
    executor: crate::executor_kind::ExecutorKind,
    workers: usize,
    capacity: Option<usize>,
    n: usize,
) {
    let open = || match capacity {
        Some(capacity) => bounded(capacity),
        None => channel::unbounded(),
    };
    let ((a, from_a), (b, from_b)) = (open(), open());
    let seen: Arc<[AtomicUsize]> = (0..4 * n).map(|_| AtomicUsize::new(0)).collect();
    let mut jobs = Jobs::new();
    for sender in 0..4 {
        let (a, b) = (a.clone(), b.clone());
        jobs.add(move || {
            for i in 0..n {
                let value = sender * n + i;
                pirn::select! {
                    send(a, value) -> sent => sent.unwrap(),
                    send(b, value) -> sent => sent.unwrap(),
                }
            }
        });
        let (from_a, from_b, seen) = (from_a.clone(), from_b.clone(), Arc::clone(&seen));
        jobs.add(move || drain(&from_a, &from_b, &seen));
    }
    drop((a, b, from_a, from_b));
    jobs.run(executor, workers);
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1));
}

fn drain(a: &Receiver<usize>, b: &Receiver<usize>, seen: &[AtomicUsize]) {
    let never = channel::never();
    let (mut a, mut b) = (a, b);
    let mut open = 2;
    while open > 0 {
        let mark = |value: usize| seen[value].fetch_add(1, Ordering::Relaxed);
        pirn::select! {
            recv(a) -> value => match value {
                Ok(value) => drop(mark(value)),
                Err(_) => { a = &never; open -= 1 }
            },
            recv(b) -> value => match value {
                Ok(value) => drop(mark(value)),
                Err(_) => { b = &never; open -= 1 }
            },
        }
    }
}

/// Timeouts race data on both sides; an unsent value is sent again, so each arrives once.
// Proves: J9.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn selects_that_run_out_of_time() {
    for (executor, part) in EXECUTOR_KINDS.into_iter().zip([1, 4, 4]) {
        for workers in WORKERS {
            for capacity in [0, 1] {
                let n = scaled(40_000) / part / 4;
                let (tx, rx) = bounded(capacity);
                let sum = Arc::new(AtomicUsize::new(0));
                let mut jobs = Jobs::new();
                for _ in 0..4 {
                    let tx = tx.clone();
                    jobs.add(move || (1..=n).for_each(|value| insist(&tx, value)));
                    let (rx, sum) = (rx.clone(), Arc::clone(&sum));
                    jobs.add(move || {
                        let mut i = 0;
                        loop {
                            i += 1;
                            pirn::select! {
                                recv(rx) -> value => match value {
                                    Ok(value) => drop(sum.fetch_add(value, Ordering::Relaxed)),
                                    Err(_) => break,
                                },
                                after(Duration::from_micros(i * 7 % 60)) => {}
                            }
                        }
                    });
                }
                drop((tx, rx));
                jobs.run(executor, workers);
                assert_eq!(sum.load(Ordering::Relaxed), 4 * n * (n + 1) / 2);
            }
        }
    }
}

fn insist(tx: &Sender<usize>, value: usize) {
    let mut case = tx.send_case(value);
    for i in 0_u64.. {
        let mut select = pirn::select::Select::new();
        select.add(&mut case);
        let limit = Duration::from_micros(i * 13 % 50);
        if select.wait_timeout(limit).unwrap().is_some() {
            return case.take().unwrap();
        }
    }
}

/// Many parked receivers, selecting and not, and several closers: exactly one close counts, and
/// every receiver is notified.
// Proves: I11.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn closers_meet_a_crowd() {
    for (executor, part) in EXECUTOR_KINDS.into_iter().zip([1, 10, 10]) {
        for workers in WORKERS {
            for round in 0..scaled(400) / part {
                let (tx, rx) = bounded::<usize>(round % 2);
                let (_open, never) = bounded::<usize>(0);
                let (closes, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let mut jobs = Jobs::new();
                for i in 0..16 {
                    let (rx, never, told) = (rx.clone(), never.clone(), &told);
                    jobs.add(move || {
                        let end = if i % 2 == 0 {
                            rx.recv()
                        } else {
                            pirn::select! {
                                recv(never) -> value => value,
                                recv(rx) -> value => value,
                            }
                        };
                        assert!(end.is_err());
                        told.fetch_add(1, Ordering::SeqCst);
                    });
                }
                for _ in 0..4 {
                    let (tx, closes) = (tx.clone(), &closes);
                    jobs.add(move || {
                        closes.fetch_add(usize::from(tx.close()), Ordering::SeqCst);
                    });
                }
                jobs.run(executor, workers);
                let counts = (closes.into_inner(), told.into_inner());
                assert_eq!(counts, (1, 16));
            }
        }
    }
}
