//! Primitives of the user: their tickets end the waits that they are for, and no others.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel::{bounded, never, unbounded};
use pirn::select::Select;
use pirn::wait::{Ticket, Waitable, case, on, park_on, unpark_all, unpark_one};
use pirn::{cancel, scope, time};

use crate::{MOMENT, assert_passed, check};

/// A number of permits, taken one by one. There is a choice before each step.
#[derive(Default)]
struct Permits(Mutex<(usize, Vec<Ticket>)>);

impl Permits {
    fn with<R>(&self, f: impl FnOnce(&mut (usize, Vec<Ticket>)) -> R) -> R {
        pirn_sim::point();
        f(&mut self.0.lock().unwrap())
    }

    fn add(&self) {
        self.with(|state| state.0 += 1);
        // A stale ticket passes the wake on.
        while let Some(ticket) = self.with(|state| state.1.pop()) {
            if ticket.wake() {
                break;
            }
        }
    }
}

impl Waitable for Permits {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.with(|state| {
            state.0 = state.0.checked_sub(1)?;
            Some(())
        })
    }

    fn register(&self, ticket: Ticket) -> bool {
        self.with(|state| {
            if state.0 == 0 {
                state.1.push(ticket);
            }
            state.0 == 0
        })
    }

    fn unregister(&self, ticket: Ticket) {
        self.with(|state| state.1.retain(|held| *held != ticket));
    }
}

/// Each permit is taken once, and no waiter is left beside a free one.
// Proves: U30-waitables.
#[test]
fn permits_of_ones_own() {
    check(|| {
        let (permits, taken) = (Permits::default(), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..2 {
                        on(&permits).unwrap();
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                });
                s.spawn(|| (0..2).for_each(|_| permits.add()));
            }
        });
        assert_eq!(taken.into_inner(), 4);
        assert!(
            permits.try_complete().is_none() && permits.with(|state| state.1.is_empty())
        );
    });
}

/// A value comes while the waitable of another case, which may wait itself, is being published.
// Proves: U30-waitables.
#[test]
fn a_select_misses_nothing_while_a_waitable_waits() {
    check(|| {
        let (permits, (tx, rx)) = (Permits::default(), bounded(1));
        scope(|s| {
            s.spawn(move || tx.send(7).unwrap());
            s.spawn(|| permits.add());
            let (mut values, mut taken) = (0, 0);
            while values + taken < 2 {
                pirn::select! {
                    recv(rx) -> value => match value {
                        Ok(value) => {
                            assert_eq!(value, 7);
                            values += 1;
                        }
                        Err(_) => {
                            on(&permits).unwrap();
                            taken += 1;
                        }
                    },
                    case(case(&permits)) -> () => taken += 1,
                }
            }
            assert_eq!((values, taken), (1, 1));
        });
    });
}

/// The waitable waits for something else in `register`, a few times, and then completes.
struct Waits(Cell<u32>, fn());

impl Waitable for Waits {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        (self.0.get() == 0).then_some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        (self.1)();
        self.0.set(self.0.get() - 1);
        // If it did not have to wait, the ticket is valid.
        ticket.wake();
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// The end of a wait inside of a waitable is not mistaken for the end of the wait around it.
// Proves: U30-waitables.
#[test]
fn a_waitable_that_waits_decides_nothing() {
    let handed = || {
        let (tx, rx) = bounded(0);
        let sender = pirn::spawn(move || tx.send(()).unwrap());
        rx.recv().unwrap();
        sender.join().unwrap();
    };
    let expired = || assert!(never::<()>().recv_timeout(MOMENT).is_err());
    let ways: [fn(); 2] = [handed, expired];
    for way in ways {
        check(move || {
            let late = time::now() + Duration::from_secs(60);
            let ended = cancel::with_deadline(late, || on(&Waits(Cell::new(2), way)));
            assert_eq!(ended, Ok(()));
            let ((open, from_open), waits) = (bounded::<()>(0), Waits(Cell::new(2), way));
            let (full, _room) = bounded(0);
            cancel::with_deadline(late, || {
                pirn::select! {
                    recv(from_open) -> value => panic!("{value:?}"),
                    send(full, ()) -> sent => panic!("{sent:?}"),
                    case(case(&waits)) -> () => {}
                }
            });
            drop(open);
        });
    }
}

/// Keeps its ticket, contrary to the rules, and is complete then.
struct Keeps {
    kept: Mutex<Option<Ticket>>,
    admits: bool,
}

impl Keeps {
    fn new(admits: bool) -> Keeps {
        let kept = Mutex::new(None);
        Keeps { kept, admits }
    }

    fn ticket(&self) -> Ticket {
        self.kept.lock().unwrap().unwrap()
    }
}

impl Waitable for Keeps {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.kept.lock().unwrap().map(drop)
    }

    fn register(&self, ticket: Ticket) -> bool {
        *self.kept.lock().unwrap() = Some(ticket);
        self.admits
    }

    fn unregister(&self, _: Ticket) {
        panic!("on purpose");
    }
}

/// A ticket of a wait that is over ends no later wait of its fiber, whenever it is used.
// Proves: U30-waitables.
#[test]
fn a_ticket_that_was_kept_ends_no_other_wait() {
    check(|| {
        let keeps = Keeps::new(false);
        on(&keeps).unwrap();
        let ticket = keeps.ticket();
        scope(|s| {
            let (tx, rx) = bounded(0);
            s.spawn(move || {
                // Before or during the waits below.
                ticket.wake();
                tx.send(7).unwrap();
            });
            let begun = time::now();
            time::sleep(MOMENT).unwrap();
            assert_passed(begun, 1);
            assert_eq!(rx.recv(), Ok(7));
        });
    });
}

/// The same if the wait has ended by a panic; and the ticket takes no wake for itself, not even
/// while the panic is on its way.
// Proves: U30-waitables.
#[test]
fn a_ticket_that_was_kept_takes_no_wake() {
    struct Wakes<'a>(&'a Keeps, &'a AtomicBool);
    impl Waitable for Wakes<'_> {
        type Output = ();
        fn try_complete(&self) -> Option<()> {
            self.0.try_complete()
        }
        fn register(&self, ticket: Ticket) -> bool {
            self.0.register(ticket)
        }
        fn unregister(&self, ticket: Ticket) {
            self.1.store(ticket.wake(), Ordering::Relaxed);
            self.0.unregister(ticket);
        }
    }
    check(|| {
        let (keeps, took) = (Keeps::new(true), AtomicBool::new(false));
        let wait = || on(&Wakes(&keeps, &took));
        assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
        assert!(!took.into_inner(), "it takes a wake for itself");
        let ticket = keeps.ticket();
        scope(|s| {
            s.spawn(move || assert!(!ticket.wake()));
            let begun = time::now();
            time::sleep(MOMENT).unwrap();
            assert_passed(begun, 1);
        });
    });
}

/// Moves a value when it is asked, and never completes.
struct Moves<F: Fn()>(F);

impl<F: Fn()> Waitable for Moves<F> {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        (self.0)();
        None
    }

    fn register(&self, _: Ticket) -> bool {
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// A value that is always in one of the channels, and moves from the last one to the first while
/// the select looks at them, is not missed.
// Proves: U30-waitables.
#[test]
fn a_select_that_does_not_wait_looks_at_one_moment() {
    let ways: [fn(&mut Select<'_>) -> Option<usize>; 2] = [
        |select| select.try_wait(),
        |select| select.wait_timeout(Duration::ZERO).unwrap(),
    ];
    for way in ways {
        check(move || {
            let ((tx, rx), (to, from)) = (bounded(1), unbounded());
            tx.send(7).unwrap();
            let moves = Moves(|| {
                if let Ok(value) = rx.try_recv() {
                    to.send(value).unwrap();
                }
            });
            let mut first = from.recv_case();
            let mut between = case(&moves);
            let mut last = rx.recv_case();
            let mut select = Select::biased();
            select.add(&mut first);
            select.add(&mut between);
            select.add(&mut last);
            assert_eq!(way(&mut select), Some(0));
            assert_eq!(first.take(), Ok(7));
        });
    }
}

/// The check of a wait by address may read an atomic with choices: none is made while the lock is
/// held.
// Proves: U30-waitables.
#[test]
fn a_wait_by_address_checks_an_atomic_with_choices() {
    check(|| {
        let open = pirn::sim::atomic::AtomicBool::new(false);
        let key = (&raw const open).addr();
        scope(|s| {
            s.spawn(|| {
                while !open.load(Ordering::Acquire) {
                    park_on(key, || !open.load(Ordering::Acquire)).unwrap();
                }
            });
            open.store(true, Ordering::Release);
            unpark_all(key);
        });
    });
}

/// Waits by address: an unpark between the check and the wait is not lost.
// Proves: U30-waitables.
#[test]
fn a_wait_by_address_is_ended() {
    check(|| {
        let (state, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let key = (&raw const state).addr();
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    while state.load(Ordering::Relaxed) == 0 {
                        let is_unset = || state.load(Ordering::Relaxed) == 0;
                        park_on(key, is_unset).unwrap();
                    }
                    passed.fetch_add(1, Ordering::Relaxed);
                    unpark_one(key);
                });
            }
            pirn_sim::point();
            state.store(1, Ordering::Relaxed);
            unpark_one(key);
        });
        assert_eq!((passed.into_inner(), unpark_all(key)), (2, 0));
    });
}
