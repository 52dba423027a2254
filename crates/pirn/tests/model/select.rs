//! Selects in a whole runtime: against senders and receivers, close, cancellation and time, and in
//! rings in both directions. Each sent value is received once or returned. No select waits
//! indefinitely, which the explorer would report as a deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::channel::{Receiver, RecvError, SendError, Sender, bounded};

use crate::util::{explore_in_time, explore_with, thread};

/// One select receives from two rendezvous channels until both end.
// Proves: J1.
#[test]
fn a_select_drains_two_channels() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let ((a, from_a), (b, from_b)) = (bounded(0), bounded(1));
        let senders = [(a, 1), (b, 10)].map(|(tx, unit)| {
            runtime.spawn(move || (0..2).for_each(|_| tx.send(unit).unwrap()))
        });
        let receiver = runtime.spawn(move || {
            let (mut sum, mut open) = (0, [true; 2]);
            while open[0] || open[1] {
                let never = pirn::channel::never();
                let a = if open[0] { &from_a } else { &never };
                let b = if open[1] { &from_b } else { &never };
                pirn::select! {
                    recv(a) -> value => match value {
                        Ok(value) => sum += value,
                        Err(_) => open[0] = false,
                    },
                    recv(b) -> value => match value {
                        Ok(value) => sum += value,
                        Err(_) => open[1] = false,
                    },
                }
            }
            sum
        });
        senders.into_iter().for_each(|s| s.join().unwrap());
        assert_eq!(receiver.join().unwrap(), 22);
    });
}

/// Passes a token on, forwards or backwards, to the neighbour that is ready.
fn pass(
    left: &(Sender<u32>, Receiver<u32>),
    right: &(Sender<u32>, Receiver<u32>),
) -> i32 {
    pirn::select! {
        recv(left.1) -> value => { value.unwrap(); 1 }
        send(right.0, 1) -> end => { end.unwrap(); -1 }
    }
}

/// Two fibers and a thread on two rendezvous channels between them, in opposite directions
/// and order. As many values are received as sent.
// Proves: J8.
#[test]
fn selects_in_both_directions() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let (one, two) = (bounded(0), bounded(0));
        let count = Arc::new(AtomicU32::new(0));
        let parties = [(one.clone(), two.clone()), (two.clone(), one.clone())];
        let parties = parties.map(|(left, right)| {
            let count = Arc::clone(&count);
            runtime.spawn(move || {
                let mut sum = 0;
                for _ in 0..2 {
                    sum += pass(&left, &right);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                sum
            })
        });
        let sums = parties.map(|party| party.join().unwrap());
        assert_eq!(sums.iter().sum::<i32>(), 0);
        assert_eq!(count.load(Ordering::Relaxed), 4);
    });
}

/// A close ends a select that waits to receive and to send; the unsent value is returned.
#[test]
fn a_close_ends_a_select() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let ((_a, from_a), (b, from_b)) = (bounded::<u32>(0), bounded(1));
        b.send(0).unwrap();
        let select = runtime.spawn(move || {
            pirn::select! {
                recv(from_a) -> _ => panic!("no value comes"),
                send(b, 7) -> sent => sent,
            }
        });
        let closer = thread(move || {
            from_b.close();
            from_b
        });
        let sent = select.join().unwrap();
        let from_b = closer.join().expect("it closes");
        let left: Vec<u32> = from_b.iter().collect();
        match sent {
            Ok(()) => assert_eq!(left, [0, 7]),
            Err(error) => {
                assert_eq!(error, SendError::Disconnected(7));
                assert_eq!(left, [0]);
            }
        }
    });
}

/// A cancellation coincides with a value: it is either received, or still with its sender.
// Proves: J9.
#[test]
fn a_cancelled_select_has_taken_nothing() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let ((tx, rx), (_idle, never)) = (bounded(0), bounded::<u32>(0));
        let select = runtime.spawn(move || {
            pirn::select! {
                recv(rx) -> value => value,
                recv(never) -> _ => panic!("no value comes"),
            }
        });
        let sender = runtime.spawn(move || tx.send(7));
        select.cancel();
        let sent = sender.join().unwrap();
        match select.join() {
            Ok(Ok(7)) => assert_eq!(sent, Ok(())),
            Ok(Err(RecvError::Interrupted(_))) | Err(_) => {
                assert_eq!(sent, Err(SendError::Disconnected(7)));
            }
            Ok(other) => panic!("{other:?}"),
        }
    });
}

/// A timeout coincides with a value.
// Proves: J9.
#[test]
fn a_select_that_runs_out_of_time_has_taken_nothing() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let select = runtime.spawn(move || {
            pirn::select! {
                recv(rx) -> value => value.unwrap(),
                after(Duration::from_millis(1)) => 0,
            }
        });
        let sender = runtime.spawn(move || tx.send(7));
        let received = select.join().unwrap();
        let sent = sender.join().unwrap();
        assert_eq!(received == 7, sent.is_ok());
    });
}
