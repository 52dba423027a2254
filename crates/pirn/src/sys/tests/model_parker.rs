//! Models: no token is lost, and the thread that takes one sees what was done before it was left.
//!
//! The token's protocol is the shipped one. The sleep is the condition variable's (a futex cannot
//! be modelled, but has the same contract).

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::{self, Condvar, Mutex, thread};
use crate::sys::parker::Parker;

/// One owner and `unparkers` threads that each raise a flag, then unpark. Flags are relaxed: only
/// the token orders them. The owner parks until it has seen all. A wake that is lost, or that does
/// not carry its flag, leaves it parked indefinitely, which loom reports.
fn flags_arrive(unparkers: usize, park: fn(&Parker)) {
    let owner = Arc::new(Parker::new());
    let flags: Arc<Vec<AtomicU32>> =
        Arc::new((0..unparkers).map(|_| AtomicU32::new(0)).collect());
    let threads: Vec<_> = (0..unparkers)
        .map(|i| {
            let (owner, flags) = (Arc::clone(&owner), Arc::clone(&flags));
            let raise = move || {
                flags[i].store(1, Ordering::Relaxed);
                owner.unpark();
            };
            thread::spawn(String::new(), raise).expect("a modelled thread")
        })
        .collect();
    while flags.iter().any(|flag| flag.load(Ordering::Relaxed) == 0) {
        park(&owner);
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("unpark returns"));
}

// Proves: C7.
#[test]
fn model_parker_one_unparker() {
    explore("parker_one_unparker", 3, || flags_arrive(1, Parker::park));
}

#[test]
fn model_parker_two_unparkers() {
    explore("parker_two_unparkers", 3, || flags_arrive(2, Parker::park));
}

#[test]
fn model_parker_with_a_deadline() {
    explore("parker_with_a_deadline", 3, || {
        flags_arrive(1, |parker| {
            // Not in the past for the modelled clock, which stands still: only a token ends
            // this wait.
            let taken =
                parker.park_until(shim::now() + std::time::Duration::from_secs(1));
            assert!(taken);
        });
    });
}

#[test]
fn model_parker_past_the_deadline() {
    explore("parker_past_the_deadline", 3, || {
        flags_arrive(1, |parker| {
            if !parker.park_until(shim::now()) {
                // Timed out without a token, so one still comes.
                parker.park();
            }
        });
    });
}

/// The owner sleeps elsewhere: in a sleep that the thread which leaves a token must end.
fn flags_arrive_elsewhere(unparkers: usize) {
    struct Elsewhere {
        parker: Parker,
        open: Mutex<bool>,
        opened: Condvar,
    }
    let owner = Arc::new(Elsewhere {
        parker: Parker::new(),
        open: Mutex::new(false),
        opened: Condvar::new(),
    });
    let flags: Arc<Vec<AtomicU32>> =
        Arc::new((0..unparkers).map(|_| AtomicU32::new(0)).collect());
    let threads: Vec<_> = (0..unparkers)
        .map(|i| {
            let (owner, flags) = (Arc::clone(&owner), Arc::clone(&flags));
            let raise = move || {
                flags[i].store(1, Ordering::Relaxed);
                owner.parker.unpark_or(|| {
                    *owner.open.lock() = true;
                    owner.opened.notify_one();
                });
            };
            thread::spawn(String::new(), raise).expect("a modelled thread")
        })
        .collect();
    while flags.iter().any(|flag| flag.load(Ordering::Relaxed) == 0) {
        owner.parker.sleep_in(|| {
            let mut open = owner.open.lock();
            while !*open {
                open = owner.opened.wait(open);
            }
            *open = false;
        });
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("unpark returns"));
}

#[test]
fn model_parker_that_sleeps_elsewhere() {
    explore("parker_that_sleeps_elsewhere", 3, || {
        flags_arrive_elsewhere(1);
    });
}

#[test]
fn model_parker_that_sleeps_elsewhere_two_unparkers() {
    explore("parker_that_sleeps_elsewhere_two_unparkers", 3, || {
        flags_arrive_elsewhere(2);
    });
}
