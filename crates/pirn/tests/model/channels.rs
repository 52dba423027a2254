//! Bounded channels: exact values, and the effect of a close on waiters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::channel::{RecvTimeoutError, bounded, broadcast, oneshot, watch};

use crate::util::{explore, explore_in_time, explore_with, thread};

/// Each sent value arrives once, with any mix of senders and receivers.
fn exact(capacity: usize) {
    explore_with(&[1, 2], move |world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(capacity);
        let sum = Arc::new(AtomicU32::new(0));
        let receivers = [0, 1].map(|_| {
            let (rx, sum) = (rx.clone(), Arc::clone(&sum));
            runtime.spawn(move || {
                for value in &rx {
                    sum.fetch_add(value, Ordering::Relaxed);
                }
            })
        });
        drop(rx);
        let outside = {
            let tx = tx.clone();
            thread(move || tx.send(100).expect("receivers are there"))
        };
        let senders = [1, 10].map(|unit| {
            let tx = tx.clone();
            runtime.spawn(move || {
                for _ in 0..3 {
                    tx.send(unit).expect("receivers are there");
                }
            })
        });
        drop(tx);
        senders
            .into_iter()
            .for_each(|sender| sender.join().expect("it sends"));
        outside.join().expect("it sends");
        receivers
            .into_iter()
            .for_each(|receiver| receiver.join().expect("it receives"));
        assert_eq!(sum.load(Ordering::Relaxed), 133);
    });
}

// Proves: I2.
#[test]
fn rendezvous() {
    exact(0);
}

// Proves: I7.
#[test]
fn one_place() {
    exact(1);
}

// Proves: I1.
#[test]
fn three_places() {
    exact(3);
}

/// A pipeline closes from its source to its end, and nothing that was sent is lost.
// Proves: I8.
#[test]
fn a_close_runs_down_the_pipeline() {
    explore(|world| {
        let runtime = world.runtime();
        let (source, first) = bounded(1);
        let (between, second) = bounded(0);
        let (last, sink) = bounded(2);
        let doubles = runtime.spawn(move || {
            first
                .iter()
                .try_for_each(|n: u32| between.send(n * 2))
                .expect("open");
        });
        let adds = runtime.spawn(move || {
            second
                .iter()
                .try_for_each(|n: u32| last.send(n + 1))
                .expect("open");
        });
        let feeds = runtime.spawn(move || {
            (0..4).try_for_each(|n| source.send(n)).expect("open");
        });
        assert_eq!(sink.iter().collect::<Vec<_>>(), [1, 3, 5, 7]);
        [doubles, adds, feeds]
            .into_iter()
            .for_each(|stage| stage.join().expect("it ends"));
    });
}

/// The last receiver is dropped while senders are parked: each value is received or returned.
// Proves: I22.
#[test]
fn the_last_receiver_goes() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(1);
        let senders = [1, 2, 4].map(|value| {
            let tx = tx.clone();
            runtime.spawn(move || match tx.send(value) {
                Ok(()) => 0,
                Err(error) => error.into_inner(),
            })
        });
        drop(tx);
        let receiver = runtime.spawn(move || rx.recv().unwrap_or(0));
        let received = receiver.join().expect("it ends");
        let back: u32 = senders
            .into_iter()
            .map(|sender| sender.join().expect("it ends"))
            .sum();
        // One value may have been in the buffer when the receiver was dropped.
        let lost = 7 - received - back;
        assert!(
            [0, 1, 2, 4].contains(&lost),
            "received {received}, came back {back}"
        );
    });
}

/// A receiver times out and leaves the queue; the value goes to a receiver that still waits.
#[test]
fn a_receiver_with_a_time_limit() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let hasty = {
            let rx = rx.clone();
            runtime.spawn(move || match rx.recv_timeout(Duration::from_micros(100)) {
                Ok(value) => value,
                // The other one may have had both by the time this one starts.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => 0,
                Err(other) => panic!("{other}"),
            })
        };
        let patient = runtime.spawn(move || rx.iter().sum::<u32>());
        let sender = runtime.spawn(move || {
            tx.send(1).expect("a receiver waits");
            tx.send(2).expect("a receiver waits");
        });
        sender.join().expect("it sends");
        let sum = hasty.join().expect("it ends") + patient.join().expect("it ends");
        assert_eq!(sum, 3);
    });
}

/// Senders wait until no receiver is left, while one more comes and goes: none waits indefinitely.
#[test]
fn the_last_receiver_against_waiting_senders() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = watch::channel(0);
        let (all, listener) = broadcast::channel::<u32>(1);
        let ends = Arc::new((tx, all));
        let waits = [0, 1].map(|first| {
            let ends = Arc::clone(&ends);
            runtime.spawn(move || {
                if first == 0 {
                    ends.0.closed().expect("it is not interrupted");
                }
                ends.1.closed().expect("it is not interrupted");
            })
        });
        let outside = thread(move || {
            drop((rx, listener));
            drop((ends.0.subscribe(), ends.1.subscribe()));
        });
        for wait in waits {
            wait.join().expect("it returns");
        }
        outside.join().expect("it drops");
    });
}

/// A sender waits in a select until its receiver is gone.
#[test]
fn the_end_of_a_oneshot_against_a_select() {
    explore(|world| {
        let runtime = world.runtime();
        let (tx, rx) = oneshot::channel::<u32>();
        let (jobs, none) = bounded::<u32>(1);
        let waits = runtime.spawn(move || {
            pirn::select! {
                recv(none) -> job => panic!("{job:?}"),
                case(tx.closed_case()) -> () => {},
            }
        });
        let outside = thread(move || drop(rx));
        waits.join().expect("it returns");
        outside.join().expect("it drops");
        drop(jobs);
    });
}
