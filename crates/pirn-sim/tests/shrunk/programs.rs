//! The programs. A comment at the end of a line is a mark that a test looks for.

use std::sync::Arc;

use pirn::channel;
use pirn::diag::name_object;
use pirn::sync::{Condvar, Mutex, Semaphore};

use crate::{Bounds, shared, shrinks};

/// Bounds for programs that need at most one choice: nothing is enumerated.
const SMALL: Bounds = Bounds {
    fibers: 0,
    choices: 0,
};

// Proves: U4-short.
#[test]
fn a_lock_that_its_holder_takes_again() {
    let body = || {
        let lock = Mutex::new(());
        let _held = lock.lock();
        drop(lock.lock());
    };
    shrinks(body, 0, SMALL, &[]);
}

// Proves: U4-short.
#[test]
fn a_value_that_never_comes() {
    let body = || {
        let (tx, rx) = channel::bounded::<()>(1);
        let _ = rx.recv();
        drop(tx);
    };
    shrinks(body, 0, SMALL, &[]);
}

// Proves: U4-short.
#[test]
fn a_fiber_that_has_not_run_yet() {
    let body = || {
        let done = shared::<Mutex<bool>>();
        name_object(&*done, "done");
        let other = Arc::clone(&done);
        let fiber = pirn::spawn(move || *other.lock() = true);
        assert!(*done.lock()); // looks at done
        fiber.join().unwrap();
    };
    shrinks(body, 0, SMALL, &[("`lock` done", "looks at done")]);
}

// Proves: U4-short.
#[test]
fn a_lost_update() {
    let body = || {
        let value = shared::<Mutex<u32>>();
        name_object(&*value, "value");
        let add = || {
            let value = Arc::clone(&value);
            pirn::spawn(move || {
                let before = *value.lock(); // reads the value
                *value.lock() = before + 1; // writes the value
            })
        };
        let fibers = [add(), add()];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(*value.lock(), 2);
    };
    let orders = [
        ("came between fiber *'s `lock` value", "reads the value"),
        ("and its `lock` value", "writes the value"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn two_locks_in_two_orders() {
    let body = || {
        let locks = shared::<(Mutex<()>, Mutex<()>)>();
        name_object(&locks.0, "ledger");
        name_object(&locks.1, "accounts");
        let other = Arc::clone(&locks);
        let fiber = pirn::spawn(move || {
            let _first = other.1.lock(); // second fiber, accounts
            let _second = other.0.lock();
        });
        {
            let _first = locks.0.lock(); // body, ledger
            let _second = locks.1.lock(); // body, accounts
        }
        fiber.join().unwrap();
    };
    let orders = [
        ("`lock` accounts", "second fiber, accounts"),
        ("came between fiber 0's `lock` ledger", "body, ledger"),
        ("and its `lock` accounts", "body, accounts"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn three_locks_in_a_ring() {
    let body = || {
        let locks = shared::<[Mutex<()>; 3]>();
        for (lock, name) in locks.iter().zip(["red", "green", "blue"]) {
            name_object(lock, name);
        }
        let fiber = |at: usize| {
            let locks = Arc::clone(&locks);
            pirn::spawn(move || {
                let _first = locks[at].lock(); // first of the ring
                let _second = locks[(at + 1) % 3].lock(); // second of the ring
            })
        };
        let fibers = [0, 1, 2].map(fiber);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    let orders = [
        ("came between fiber *'s `lock` *", "first of the ring"),
        ("and its `lock` *", "second of the ring"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn a_notification_before_the_wait() {
    let body = || {
        let both = shared::<(Mutex<bool>, Condvar)>();
        name_object(&both.0, "flag");
        name_object(&both.1, "changed");
        let other = Arc::clone(&both);
        let waker = pirn::spawn(move || {
            *other.0.lock() = true; // sets the flag
            other.1.notify_one(); // notifies
        });
        let is_set = *both.0.lock(); // looks at the flag
        if !is_set {
            drop(both.1.wait(both.0.lock())); // waits
        }
        waker.join().unwrap();
    };
    let orders = [
        ("`lock` flag", "sets the flag"),
        ("`notify` changed", "notifies"),
        ("came between fiber 0's `lock` flag", "looks at the flag"),
        ("and its `lock` flag", "waits"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn an_attempt_while_the_lock_is_held() {
    let body = || {
        let locks = shared::<(Mutex<()>, Mutex<()>)>();
        name_object(&locks.0, "outer");
        name_object(&locks.1, "within");
        let other = Arc::clone(&locks);
        // The last fiber that is spawned is the first one that runs.
        let second = pirn::spawn(move || {
            assert!(other.0.try_lock().is_some()); // tries outer
        });
        let other = Arc::clone(&locks);
        let fiber = pirn::spawn(move || {
            let _outer = other.0.lock(); // takes outer
            drop(other.1.lock()); // takes within
        });
        fiber.join().unwrap();
        second.join().unwrap();
    };
    let orders = [
        ("`try_lock` outer", "tries outer"),
        ("came between fiber *'s `lock` outer", "takes outer"),
        ("and its `lock` within", "takes within"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn a_semaphore_that_is_asked_twice() {
    let body = || {
        let slots = Arc::new(Semaphore::new(2));
        name_object(&*slots, "slots");
        let both = || {
            let slots = Arc::clone(&slots);
            pirn::spawn(move || {
                let one = slots.acquire(1).unwrap(); // takes one slot
                let other = slots.acquire(1).unwrap(); // takes another slot
                drop((one, other));
            })
        };
        let fibers = [both(), both()];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    let orders = [
        ("`acquire` slots", "takes one slot"),
        ("came between fiber *'s `acquire` slots", "takes one slot"),
        ("and its `acquire` slots", "takes another slot"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

// Proves: U4-short.
#[test]
fn a_channel_that_is_looked_at() {
    let body = || {
        let (tx, rx) = channel::bounded(1);
        name_object(&rx, "jobs");
        tx.send(()).unwrap();
        let take = || {
            let rx = rx.clone();
            pirn::spawn(move || {
                let has_one = !rx.is_empty(); // looks for a job
                if has_one {
                    rx.try_recv().unwrap(); // takes the job
                }
            })
        };
        let fibers = [take(), take()];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    let orders = [
        ("`try_recv` jobs", "takes the job"),
        ("came between fiber *'s `look` jobs", "looks for a job"),
        ("and its `try_recv` jobs", "takes the job"),
    ];
    shrinks(body, 1, SMALL, &orders);
}

/// Two fibers add to some variables one after the other, and lose an update of each of them. A
/// variable needs a switch of its own: in all other orders one of the fibers has both its steps
/// before or after those of the other.
fn variables<const COUNT: usize>(names: [&'static str; COUNT]) {
    let all: Arc<[Mutex<u32>; COUNT]> = Arc::new([(); COUNT].map(|()| Mutex::new(0)));
    for (variable, name) in all.iter().zip(names) {
        name_object(variable, name);
    }
    let add = || {
        let all = Arc::clone(&all);
        pirn::spawn(move || {
            for variable in &*all {
                let before = *variable.lock(); // reads a variable
                *variable.lock() = before + 1; // writes a variable
            }
        })
    };
    let fibers = [add(), add()];
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert!(
        all.iter().any(|variable| *variable.lock() == 2),
        "all are lost"
    );
}

// Proves: U4-short.
#[test]
fn two_updates_that_are_lost() {
    let bounds = Bounds {
        fibers: 3,
        choices: 9,
    };
    let orders = [
        ("between fiber *'s `lock` x", "reads a variable"),
        ("and its `lock` x", "writes a variable"),
        ("between fiber *'s `lock` y", "reads a variable"),
        ("and its `lock` y", "writes a variable"),
    ];
    shrinks(|| variables(["x", "y"]), 2, bounds, &orders);
}

// Proves: U4-short.
#[test]
fn three_updates_that_are_lost() {
    let bounds = Bounds {
        fibers: 3,
        choices: 9,
    };
    let orders = [
        ("and its `lock` x", "writes a variable"),
        ("and its `lock` y", "writes a variable"),
        ("and its `lock` z", "writes a variable"),
    ];
    shrinks(|| variables(["x", "y", "z"]), 3, bounds, &orders);
}

// Proves: U4-short.
#[test]
fn five_philosophers() {
    let body = || {
        let forks = shared::<[Mutex<()>; 5]>();
        let philosopher = |at: usize| {
            let forks = Arc::clone(&forks);
            pirn::spawn(move || {
                let _left = forks[at].lock(); // left fork
                let _right = forks[(at + 1) % 5].lock(); // right fork
            })
        };
        let fibers = [0, 1, 2, 3, 4].map(philosopher);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    let bounds = Bounds {
        fibers: 6,
        choices: 6,
    };
    let orders = [
        ("between fiber *'s `lock` lock *", "left fork"),
        ("and its `lock` lock *", "right fork"),
    ];
    shrinks(body, 2, bounds, &orders);
}

// Proves: U4-short.
#[test]
fn a_receiver_that_is_gone() {
    let body = || {
        let (tx, rx) = channel::bounded(1);
        name_object(&rx, "jobs");
        let (stop, stopped) = channel::bounded::<()>(1);
        name_object(&stopped, "stop");
        let receiver = pirn::spawn(move || {
            if stopped.try_recv().is_err() {
                assert_eq!(rx.recv(), Ok(1));
            }
        }); // the receiver ends
        let stopper = pirn::spawn(move || stop.send(())); // stops
        tx.send(1).unwrap(); // sends a job
        receiver.join().unwrap();
        let _ = stopper.join().unwrap();
    };
    let bounds = Bounds {
        fibers: 3,
        choices: 9,
    };
    let orders = [
        ("`send` stop", "stops"),
        ("`close` jobs", "the receiver ends"),
        ("`send` jobs", "sends a job"),
    ];
    shrinks(body, 2, bounds, &orders);
}

// Proves: U4-short.
#[test]
fn five_fibers_in_another_order() {
    // The fifth runs first in the canonical schedule, then the others in order.
    let body = || {
        let (tx, rx) = channel::unbounded();
        name_object(&rx, "order");
        let fiber = |number: u32| {
            let tx = tx.clone();
            pirn::spawn(move || tx.send(number).unwrap()) // sends its number
        };
        let fibers = [1, 2, 3, 4, 5].map(fiber);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let order: Vec<u32> = (0..5).map(|_| rx.recv().unwrap()).collect();
        assert_ne!(order, [4, 3, 2, 1, 5]);
    };
    let bounds = Bounds {
        fibers: 6,
        choices: 3,
    };
    shrinks(body, 3, bounds, &[("`send` order", "sends its number")]);
}
