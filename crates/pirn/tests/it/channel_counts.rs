//! Each value that is sent is received, counted: on every number of workers, with every kind and
//! number of senders and receivers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Runtime;
use pirn::channel::{
    Receiver, RecvError, TryRecvError, TrySendError, bounded, unbounded,
};
use pirn::runtime::{Builder, Spread};
use pirn::sync::Barrier;
use pirn::time::{now, sleep, sleep_until};

use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs, runtime, until};
use crate::util::{LONG, apart, scaled};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// Four senders of 200 values each, four receivers, no buffer; the last sender closes. Each
/// sent value was received, and no waiter is left.
// Proves: I2.
#[test]
fn a_rendezvous_counts_the_same_on_both_sides() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            let (tx, rx) = bounded(0);
            let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let sending = AtomicUsize::new(4);
            let mut jobs = Jobs::new();
            for _ in 0..4 {
                jobs.add(|| {
                    for value in 0..200 {
                        tx.send(value).unwrap();
                        sent.fetch_add(1, Ordering::SeqCst);
                    }
                    if sending.fetch_sub(1, Ordering::SeqCst) == 1 {
                        assert!(tx.close());
                    }
                });
                jobs.add(|| {
                    received.fetch_add(rx.iter().count(), Ordering::SeqCst);
                });
            }
            jobs.run(executor, workers);
            assert_eq!((sent.into_inner(), received.into_inner()), (800, 800));
            assert_eq!(tx.try_send(0), Err(TrySendError::Disconnected(0)));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        }
    }
}

/// Every receiver gets the values of one sender in the order in which they were sent, with
/// one or four of either, in any mix of fibers and threads.
// Proves: I4, I16.
#[test]
fn the_values_of_one_sender_stay_in_order() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for (senders, receivers) in [(1, 1), (1, 4), (4, 1), (4, 4)] {
                for capacity in [Some(0), Some(1), Some(3), Some(64), None] {
                    in_order(executor, workers, (senders, receivers), capacity);
                }
            }
        }
    }
}

fn in_order(
    executor: ExecutorKind,
    workers: usize,
    (senders, receivers): (usize, usize),
    capacity: Option<usize>,
) {
    const EACH: usize = 200;
    let (tx, rx) = capacity.map_or_else(unbounded, bounded);
    let received = AtomicUsize::new(0);
    let mut jobs = Jobs::new();
    for sender in 0..senders {
        let tx = tx.clone();
        jobs.add(move || (1..=EACH).for_each(|n| tx.send((sender, n)).unwrap()));
    }
    for _ in 0..receivers {
        let (rx, received) = (rx.clone(), &received);
        jobs.add(move || {
            let mut last = vec![0; senders];
            for (sender, n) in rx {
                assert!(n > last[sender], "{n} after {}", last[sender]);
                last[sender] = n;
                received.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    drop((tx, rx));
    jobs.run(executor, workers);
    assert_eq!(received.into_inner(), senders * EACH);
}

/// Every value is a wait and a wake on a channel with one place, and none is missed: ten
/// thousand values, twenty-five times.
// Proves: I7.
#[test]
fn one_place_wakes_the_sender_that_waits() {
    let values = scaled(10_000);
    for round in 0..25 {
        let (tx, rx) = bounded(1);
        let mut jobs = Jobs::new();
        jobs.add(move || (0..values).for_each(|i| tx.send(i).unwrap()));
        jobs.add(move || assert!(rx.into_iter().eq(0..values)));
        jobs.run(EXECUTOR_KINDS[round % 3], WORKERS[round % 4]);
    }
}

/// Many senders and one slow receiver: everything arrives, no sender is left waiting.
// Proves: I10.
#[test]
fn a_storm_of_senders_does_not_stall_at_a_slow_receiver() {
    const SENDERS: usize = 48;
    const EACH: usize = 40;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for capacity in [0, 1, 4] {
                let (tx, rx) = bounded(capacity);
                let mut jobs = Jobs::new();
                jobs.add(move || {
                    let mut from = [0; SENDERS];
                    for sender in rx {
                        from[sender] += 1;
                        (0..3).for_each(|_| pirn::yield_now());
                    }
                    assert!(from.iter().all(|count| *count == EACH), "{from:?}");
                });
                for sender in 0..SENDERS {
                    let tx = tx.clone();
                    jobs.add(move || (0..EACH).for_each(|_| tx.send(sender).unwrap()));
                }
                drop(tx);
                jobs.run(executor, workers);
            }
        }
    }
}

/// A thread or fiber that knows that a channel has been closed cannot send any more, in any
/// way; values sent before are received.
// Proves: I12.
#[test]
fn nothing_is_sent_after_a_close() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for capacity in [0, 1, 4] {
                let (tx, rx) = bounded(capacity);
                let closed = AtomicBool::new(false);
                let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let mut jobs = Jobs::new();
                for sender in 0..3 {
                    let (tx, closed, sent) = (&tx, &closed, &sent);
                    jobs.add(move || {
                        for how in sender.. {
                            let late = closed.load(Ordering::SeqCst);
                            let went = match how % 3 {
                                0 => tx.send(how).is_ok(),
                                1 => tx.try_send(how).is_ok(),
                                _ => tx.send_timeout(how, LONG).is_ok(),
                            };
                            assert!(!(late && went), "sent into a closed channel");
                            sent.fetch_add(usize::from(went), Ordering::SeqCst);
                            if late {
                                break;
                            }
                        }
                    });
                    jobs.add(|| {
                        received.fetch_add(rx.iter().count(), Ordering::SeqCst);
                    });
                }
                jobs.add(|| {
                    until(&sent, 50);
                    assert!(rx.close());
                    closed.store(true, Ordering::SeqCst);
                });
                jobs.run(executor, workers);
                assert_eq!(sent.into_inner(), received.into_inner());
            }
        }
    }
}

/// A plain thread and a fiber are the two ends of a pipe, and of the one in the other
/// direction.
// Proves: I20.
#[test]
fn a_thread_and_a_fiber_pass_values_to_and_fro() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        for capacity in [0, 1, 8] {
            let (question, questions) = bounded::<usize>(capacity);
            let (answer, answers) = bounded(capacity);
            let fiber = runtime.spawn(move || {
                for n in questions {
                    answer.send(n + 1).unwrap();
                }
            });
            for n in 0..1_000 {
                question.send(n).unwrap();
                assert_eq!(answers.recv_timeout(LONG), Ok(n + 1));
            }
            drop(question);
            assert_eq!(answers.recv(), Err(RecvError::Disconnected));
            fiber.join().unwrap();
        }
    }
}

/// Plain threads wait on channels, and select, in a process that has no runtime; none is created.
// Proves: I20.
#[test]
fn channels_need_no_runtime() {
    const ROUNDS: usize = 200;
    let part = || {
        for capacity in [0, 1, 8] {
            let (question, questions) = bounded::<usize>(capacity);
            let (answer, answers) = bounded(capacity);
            std::thread::scope(|threads| {
                threads.spawn(move || {
                    for n in questions {
                        let (_open, nothing) = bounded::<()>(0);
                        pirn::select! {
                            recv(nothing) -> value => panic!("{value:?}"),
                            send(answer, n + 1) -> sent => sent.unwrap(),
                        }
                    }
                });
                for n in 0..ROUNDS {
                    question.send(n).unwrap();
                    let received = match n % 2 {
                        0 => answers.recv().unwrap(),
                        _ => answers.recv_timeout(LONG).unwrap(),
                    };
                    assert_eq!(received, n + 1);
                }
                drop(question);
                assert_eq!(answers.recv(), Err(RecvError::Disconnected));
            });
        }
        Builder::new().install().expect("no runtime was created");
    };
    if let Some(ended) = apart("channel_counts::channels_need_no_runtime", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Batches of any size, from several senders to several receivers: each value once.
// Proves: I24.
#[test]
fn batches_arrive_exactly_once() {
    const EACH: usize = scaled(2_000);
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for capacity in [0, 1, 16] {
                let (tx, rx) = bounded(capacity);
                let seen: Vec<_> = (0..3 * EACH).map(|_| AtomicUsize::new(0)).collect();
                let mut jobs = Jobs::new();
                for part in 0..3 {
                    let (tx, rx, seen) = (tx.clone(), rx.clone(), &seen);
                    jobs.add(move || {
                        let mut rest: VecDeque<_> =
                            (part * EACH..(part + 1) * EACH).collect();
                        for size in (1..40).cycle() {
                            let mut batch: VecDeque<_> =
                                rest.drain(..rest.len().min(size)).collect();
                            if batch.is_empty() {
                                break;
                            }
                            tx.send_many(&mut batch).unwrap();
                            assert!(batch.is_empty());
                        }
                    });
                    jobs.add(move || {
                        let mut batch = Vec::new();
                        while rx.recv_many(&mut batch, 24).is_ok() {
                            for value in batch.drain(..) {
                                seen[value].fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
                drop((tx, rx));
                jobs.run(executor, workers);
                assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }
}

/// Of four concurrent receivers, each gets at least a tenth of the values. With one worker
/// that holds for every forty thousand values. With more the system decides which of them run, and
/// it holds in the long run: for all values of the first rounds, as many as it takes, a hundred at
/// most. (Where the fibers are on several workers, those beside a sender get more values.)
// Proves: D-4.
#[test]
fn four_receivers_get_a_tenth_each_at_least() {
    let values = scaled(40_000);
    for workers in WORKERS {
        for senders in [1, 4] {
            for capacity in [0, 1, 16] {
                let mut taken = [0; 4];
                let tenth = |taken: &[usize; 4]| {
                    let all: usize = taken.iter().sum();
                    all > 0 && taken.iter().all(|n| n * 10 >= all)
                };
                for _ in 0..if workers == 1 { 1 } else { 100 } {
                    let share = shares(workers, senders, capacity, values);
                    taken.iter_mut().zip(share).for_each(|(sum, n)| *sum += n);
                    if tenth(&taken) {
                        break;
                    }
                }
                assert!(
                    tenth(&taken),
                    "{taken:?}, {senders} senders, capacity {capacity}, {workers} workers"
                );
            }
        }
    }
}

/// Returns how many of `values` each of four receivers gets. All wait for each other first: the
/// share of early receivers during the start of the others says nothing about the channel.
fn shares(workers: usize, senders: usize, capacity: usize, values: usize) -> [usize; 4] {
    let (tx, rx) = bounded(capacity);
    let taken = [const { AtomicUsize::new(0) }; 4];
    let start = &Barrier::new(taken.len() + senders);
    let mut jobs = Jobs::new();
    for taken in &taken {
        let rx = rx.clone();
        jobs.add(move || {
            start.wait();
            taken.fetch_add(rx.into_iter().count(), Ordering::SeqCst);
        });
    }
    for _ in 0..senders {
        let tx = tx.clone();
        jobs.add(move || {
            start.wait();
            (0..values / senders).for_each(|i| tx.send(i).unwrap());
        });
    }
    drop((tx, rx));
    let builder = Runtime::builder().workers(workers).spread(Spread::Never);
    jobs.run_on(&builder.build().unwrap(), ExecutorKind::Fibers);
    taken.map(AtomicUsize::into_inner)
}

/// A value is sent just as the limits of some receivers have run out, before they leave the queue:
/// a receiver behind them gets it.
// Proves: I10.
#[test]
fn receivers_that_give_up_do_not_swallow_wakes() {
    for round in 0..100 {
        pirn::runtime::test(|handle| {
            handle.run(|| {
                let (tx, rx) = bounded(1);
                let limit = now() + Duration::from_millis(10);
                // It wakes at the limit too, before or after them.
                let send = move || {
                    sleep_until(limit).unwrap();
                    tx.try_send(7).unwrap();
                    // Open until the end, so that no close wakes the receiver.
                    sleep(2 * LONG).unwrap();
                };
                let impatient = |rx: &Receiver<i32>| {
                    let rx = rx.clone();
                    pirn::spawn(move || rx.recv_deadline(limit))
                };
                let early = (round % 2 == 0).then(|| pirn::spawn(send.clone()));
                pirn::yield_now();
                let others = [impatient(&rx), impatient(&rx)];
                let patient = pirn::spawn(move || rx.recv_timeout(LONG));
                let sender = early.unwrap_or_else(|| pirn::spawn(send));
                let mut received: Vec<i32> = others
                    .into_iter()
                    .filter_map(|receiver| receiver.join().unwrap().ok())
                    .collect();
                received.extend(patient.join().unwrap());
                assert_eq!(received, [7], "round {round}");
                sender.join().unwrap();
            });
        });
    }
}

/// Receivers with limits that expire at once, beside one that waits: each value arrives once.
#[test]
fn impatient_receivers_lose_nothing() {
    for workers in WORKERS {
        let (tx, rx) = bounded(1);
        let mut jobs = Jobs::new();
        let received = AtomicUsize::new(0);
        for patient in [true, false, false] {
            let (rx, received) = (rx.clone(), &received);
            jobs.add(move || {
                let limit = if patient { LONG } else { Duration::ZERO };
                loop {
                    match rx.recv_timeout(limit) {
                        Ok(()) => _ = received.fetch_add(1, Ordering::SeqCst),
                        Err(end) if end.is_disconnected() => break,
                        Err(_) => pirn::yield_now(),
                    }
                }
            });
        }
        jobs.add(move || (0..2_000).for_each(|_| tx.send(()).unwrap()));
        drop(rx);
        jobs.run(ExecutorKind::Fibers, workers);
        assert_eq!(received.into_inner(), 2_000);
    }
}
