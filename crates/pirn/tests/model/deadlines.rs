//! Deadlines of code against data, cancellation and the ends of fibers.

use std::sync::Arc;
use std::time::Duration;

use pirn::cancel::{check, with_deadline};
use pirn::channel::{RecvError, SendError, bounded};
use pirn::sync::Mutex;
use pirn::{Interrupt, time, timeout};

use crate::util::{explore_in_time, thread};

const MOMENT: Duration = Duration::from_micros(100);

/// Both sides of a rendezvous are under deadlines: exactly one of them has the value.
// Proves: N11.
#[test]
fn a_value_between_two_deadlines() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(0);
        let sender = runtime.spawn(move || {
            let at = time::now() + MOMENT;
            with_deadline(at, || match tx.send(5) {
                Ok(()) => 0,
                Err(SendError::Interrupted(value, Interrupt::TimedOut)) => {
                    assert_eq!(check(), Err(Interrupt::TimedOut));
                    value
                }
                // The other side has given up.
                Err(SendError::Disconnected(value)) => value,
                Err(other) => panic!("{other}"),
            })
        });
        let receiver = runtime.spawn(move || match timeout(MOMENT, || rx.recv()) {
            Ok(Ok(value)) => value,
            Ok(Err(RecvError::Disconnected)) | Err(_) => 0,
            Ok(Err(other)) => panic!("{other}"),
        });
        let kept = sender.join().expect("it ends");
        assert_eq!(kept + receiver.join().expect("it ends"), 5);
    });
}

/// As above, with a plain thread on one side.
#[test]
fn a_value_between_a_thread_and_a_deadline() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (tx, rx) = bounded(1);
        let sender = thread(move || {
            tx.try_send(1).expect("there is room");
            match timeout(MOMENT, || tx.send(2)) {
                Ok(Ok(())) => 2,
                Ok(Err(SendError::Disconnected(_))) | Err(_) => 0,
                Ok(Err(other)) => panic!("{other}"),
            }
        });
        let receiver = runtime.spawn(move || {
            let first = rx.recv().expect("it was sent");
            first + rx.recv().unwrap_or(0)
        });
        let sent = sender.join().expect("it ends");
        assert_eq!(receiver.join().expect("it ends"), 1 + sent);
    });
}

/// A cancellation and a deadline arrive at once: one of them is reported. If it was the
/// cancellation, later waits report it too.
#[test]
fn a_deadline_against_a_cancellation() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let fiber = runtime.spawn(|| {
            let result = timeout(MOMENT, || (time::sleep(MOMENT * 10), check()));
            if let Ok((slept, later)) = result {
                assert_eq!(slept, Err(Interrupt::Cancelled));
                assert_eq!(later, slept);
            }
        });
        fiber.cancel();
        // Not run if the cancellation arrived before its start.
        let ended = fiber.join();
        assert!(!ended.is_err_and(|error| error.is_panic()));
    });
}

/// The children of a scope under a deadline, on any worker: none waits longer. The deadline stays
/// valid as long as they live, and the holder of the lock has the lock.
#[test]
fn a_scope_under_a_deadline() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let mutex = Arc::new(Mutex::new(0));
        let held = mutex.lock();
        let result = timeout(MOMENT, || {
            runtime.scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        let locked = mutex.lock_interruptible();
                        assert_eq!(locked.err(), Some(Interrupt::TimedOut));
                    });
                }
            });
        });
        assert!(result.is_err(), "it was reported to the children");
        drop(held);
        assert!(mutex.try_lock().is_some());
    });
}
