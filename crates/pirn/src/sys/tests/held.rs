//! Sleeps in the system, with threads that stop between any two instructions.
//!
//! The models of the token have stand-ins for the futex, for epoll and for the descriptor that ends
//! a wait in it. These tests use the system's own.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::holds::{Held, Holder, dice, pause};
use crate::shim;
use crate::sys::parker::Parker;
use crate::sys::poller::{Driver, Events};

/// The number of times that a thread is held.
const HOLDS: u64 = 5_000;

/// The time that counts as a lost wake. A hold takes 60 µs at most.
const LOST: Duration = Duration::from_secs(20);

/// A place where a thread sleeps, as in an inbox.
struct Sleeper {
    parker: Parker,
    driver: Driver,
}

impl Sleeper {
    fn in_futex(&self, _: &mut Events) {
        self.parker.park_until(shim::now() + LOST);
    }

    /// With a deadline that often passes while the wake comes.
    fn in_futex_for_a_moment(&self, _: &mut Events) {
        let moment = Duration::from_nanos(dice() % 100_000);
        self.parker.park_until(shim::now() + moment);
    }

    fn in_epoll(&self, events: &mut Events) {
        let until = shim::now() + LOST;
        self.parker
            .sleep_in(|| self.driver.wait(events, Some(until)));
    }

    /// Chooses one at random: a driver has sources at some times only.
    fn in_either(&self, events: &mut Events) {
        match dice() % 3 {
            0 => self.in_futex(events),
            1 => self.in_futex_for_a_moment(events),
            _ => self.in_epoll(events),
        }
    }

    fn wake(&self) {
        self.parker.unpark_or(|| self.driver.wake());
    }
}

/// Wakes a sleeper repeatedly, while another thread polls its driver in its place. All three are
/// held.
fn no_wake_is_lost(sleep: fn(&Sleeper, &mut Events)) {
    let sleeper = Sleeper {
        parker: Parker::new(),
        driver: Driver::new(),
    };
    sleeper.driver.made().expect("a poller");
    // Relaxed: the token orders these accesses.
    let (begun, seen) = (AtomicU32::new(0), AtomicU32::new(0));
    let ends = AtomicBool::new(false);
    let held = Held::default();
    let holder = Holder::of(&held);
    let lost = thread::scope(|scope| {
        scope.spawn(|| {
            held.while_in(|| {
                let more = || holder.count() < HOLDS && !ends.load(Ordering::Relaxed);
                let mut round = 0;
                while more() {
                    held.allow();
                    pause();
                    round += 1;
                    begun.store(round, Ordering::Relaxed);
                    sleeper.wake();
                    while seen.load(Ordering::Relaxed) < round && more() {
                        thread::yield_now();
                    }
                }
                ends.store(true, Ordering::Relaxed);
                sleeper.wake();
            });
        });
        scope.spawn(|| {
            held.while_in(|| {
                let mut events = Events::new();
                while !ends.load(Ordering::Relaxed) {
                    sleeper.driver.poll_for_owner(&mut events);
                    thread::yield_now();
                }
            });
        });
        let lost = held.while_in(|| {
            let mut events = Events::new();
            let mut round = 0;
            while !ends.load(Ordering::Relaxed) {
                if begun.load(Ordering::Relaxed) > round {
                    round += 1;
                    seen.store(round, Ordering::Relaxed);
                    continue;
                }
                let start = shim::now();
                sleep(&sleeper, &mut events);
                if shim::now() - start >= LOST {
                    return Some(round);
                }
            }
            None
        });
        ends.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, None, "the round after which a wake was lost");
}

// Proves: C7-held.
#[test]
fn a_sleeper_in_the_futex_is_woken() {
    no_wake_is_lost(Sleeper::in_futex);
}

// Proves: C7-held.
#[test]
fn a_sleeper_with_a_deadline_is_woken() {
    no_wake_is_lost(Sleeper::in_futex_for_a_moment);
}

// Proves: C7-held.
#[test]
fn a_sleeper_in_epoll_is_woken() {
    no_wake_is_lost(Sleeper::in_epoll);
}

// Proves: C7-held.
#[test]
fn a_sleeper_in_either_is_woken() {
    no_wake_is_lost(Sleeper::in_either);
}
