//! Waiting with primitives of the user: the contract of `Waitable`, and rules for tickets.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use pirn::select::Select;
use pirn::wait::{Ticket, Waitable, case, on};
use pirn::{Interrupt, channel};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime, until};
use crate::util::{LONG, eventually, on_every_shape, scaled};

/// A flag that stays set: the simplest waitable.
#[derive(Default)]
struct Event {
    state: Mutex<(bool, Vec<Ticket>)>,
}

impl Event {
    fn set(&self) {
        let waiting = {
            let mut state = self.state.lock().unwrap();
            state.0 = true;
            std::mem::take(&mut state.1)
        };
        waiting.into_iter().for_each(|ticket| _ = ticket.wake());
    }

    fn waiting(&self) -> usize {
        self.state.lock().unwrap().1.len()
    }
}

impl Waitable for Event {
    type Output = &'static str;

    fn try_complete(&self) -> Option<&'static str> {
        self.state.lock().unwrap().0.then_some("set")
    }

    fn register(&self, ticket: Ticket) -> bool {
        let mut state = self.state.lock().unwrap();
        if !state.0 {
            state.1.push(ticket);
        }
        !state.0
    }

    fn unregister(&self, ticket: Ticket) {
        self.state.lock().unwrap().1.retain(|held| *held != ticket);
    }
}

/// A number of permits, to be taken one by one.
#[derive(Default)]
struct Permits {
    state: Mutex<(usize, Vec<Ticket>)>,
}

impl Permits {
    fn add(&self) {
        let next = {
            let mut state = self.state.lock().unwrap();
            state.0 += 1;
            state.1.pop()
        };
        // An unclaimed permit stays; a stale ticket passes the wake on.
        let mut next = next;
        while let Some(ticket) = next {
            if ticket.wake() {
                break;
            }
            next = self.state.lock().unwrap().1.pop();
        }
    }
}

impl Waitable for Permits {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        let mut state = self.state.lock().unwrap();
        state.0 = state.0.checked_sub(1)?;
        Some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.0 > 0 {
            return false;
        }
        state.1.push(ticket);
        true
    }

    fn unregister(&self, ticket: Ticket) {
        self.state.lock().unwrap().1.retain(|held| *held != ticket);
    }
}

/// Keeps every ticket it was ever given, and completes on request.
#[derive(Default)]
struct Hoard {
    tickets: Mutex<Vec<Ticket>>,
    complete: AtomicUsize,
}

impl Waitable for Hoard {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        let more = self.complete.load(Ordering::SeqCst).checked_sub(1)?;
        self.complete.store(more, Ordering::SeqCst);
        Some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        self.tickets.lock().unwrap().push(ticket);
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// A waitable of the user works on fibers and threads.
// Proves: G1.
#[test]
fn an_event_of_ones_own() {
    for executor in EXECUTOR_KINDS {
        let event = Event::default();
        let arrived = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                assert_eq!(on(&event), Ok("set"));
                assert_eq!(on(&event), Ok("set"), "at once");
            });
        }
        jobs.add(|| {
            until(&arrived, 8);
            event.set();
        });
        jobs.run(executor, 2);
        assert_eq!(event.waiting(), 0);
    }
}

/// Permits: each is taken once, and no waiter is left beside a free one.
// Proves: G1.
#[test]
fn permits_of_ones_own() {
    let each = scaled(2_000);
    for executor in EXECUTOR_KINDS {
        let permits = Permits::default();
        let taken = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for _ in 0..4 {
            jobs.add(|| {
                for _ in 0..each {
                    on(&permits).unwrap();
                    taken.fetch_add(1, Ordering::Relaxed);
                }
            });
            jobs.add(|| (0..each).for_each(|_| permits.add()));
        }
        jobs.run(executor, 2);
        assert_eq!(taken.into_inner(), 4 * each);
        assert!(permits.try_complete().is_none());
    }
}

/// F4, G4. Of two wakes for one wait one wins; it ends that wait and no other.
#[test]
fn a_ticket_wakes_once() {
    alone(|| {
        let hoard = Hoard::default();
        pirn::scope(|s| {
            let waiting = s.spawn(|| on(&hoard));
            pirn::yield_now();
            let ticket = hoard.tickets.lock().unwrap()[0];
            hoard.complete.store(1, Ordering::SeqCst);
            assert!(ticket.wake());
            assert!(!ticket.wake());
            let copy = ticket;
            assert!(!copy.wake());
            assert_eq!(waiting.join().unwrap(), Ok(()));
            assert!(!ticket.wake());
        });
    });
}

/// A ticket of an earlier wait ends no later one, of the same fiber or of another that
/// reuses its memory.
// Proves: F6, G4.
#[test]
fn a_stale_ticket_does_nothing() {
    on_every_shape(|runtime| {
        let hoard = Hoard::default();
        runtime.scope(|s| {
            for round in 0..scaled(500) {
                let waiting = s.spawn(|| on(&hoard));
                eventually("it waits", || hoard.tickets.lock().unwrap().len() > round);
                // All the stale ones first: they must not end the wait, nor count as wakes.
                let tickets = hoard.tickets.lock().unwrap().clone();
                let (last, stale) = tickets.split_last().unwrap();
                let from = stale.len().saturating_sub(50);
                assert!(stale[from..].iter().all(|ticket| !ticket.wake()));
                assert!(!waiting.is_finished());
                hoard.complete.store(1, Ordering::SeqCst);
                assert!(last.wake());
                assert_eq!(waiting.join().unwrap(), Ok(()));
            }
        });
    });
}

/// B17. An unused ticket has no effect when its fiber has ended, however often the memory of
/// that fiber is reused.
// Proves: F15.
#[test]
fn a_ticket_of_an_ended_fiber_is_worthless() {
    let runtime = runtime(1);
    let hoard = Arc::new(Hoard::default());
    runtime.run(|| {
        let waited = Arc::clone(&hoard);
        let fiber = pirn::spawn(move || on(&*waited));
        pirn::yield_now();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), Err(Interrupt::Cancelled));
        let ticket = hoard.tickets.lock().unwrap()[0];
        for _ in 0..scaled(100_000) {
            let next = pirn::spawn(|| pirn::spawn::park_timeout(Duration::ZERO));
            assert!(!ticket.wake());
            next.join().unwrap();
        }
        assert!(!ticket.wake());
    });
}

/// F3. Two wakers race for every wait of one fiber: each wait ends once, by one of
/// them.
// Proves: F4, F21.
#[test]
fn two_wakers_one_waiter() {
    let rounds = scaled(10_000);
    for executor in EXECUTOR_KINDS {
        let hoard = Hoard::default();
        let round = AtomicUsize::new(0);
        // The waker that claims a round completes it; no waker wakes before that.
        let (won, completed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        jobs.add(|| {
            for _ in 0..rounds {
                on(&hoard).unwrap();
                round.fetch_add(1, Ordering::SeqCst);
            }
        });
        for _ in 0..2 {
            jobs.add(|| {
                for number in 0..rounds {
                    // The ticket of this round; the fiber may be about to park.
                    let ticket = loop {
                        if let Some(ticket) = hoard.tickets.lock().unwrap().get(number) {
                            break *ticket;
                        }
                        pirn::yield_now();
                    };
                    if won.load(Ordering::SeqCst) == number
                        && won
                            .compare_exchange(
                                number,
                                number + 1,
                                Ordering::SeqCst,
                                Ordering::SeqCst,
                            )
                            .is_ok()
                    {
                        hoard.complete.store(1, Ordering::SeqCst);
                        completed.store(number + 1, Ordering::SeqCst);
                    }
                    until(&completed, number + 1);
                    ticket.wake();
                    while round.load(Ordering::SeqCst) <= number {
                        pirn::yield_now();
                    }
                }
            });
        }
        jobs.run(executor, 2);
        assert_eq!(
            hoard.tickets.lock().unwrap().len(),
            rounds,
            "a wait was ended twice"
        );
        assert_eq!(won.into_inner(), rounds);
    }
}

/// G2. Cancellation ends the wait; nothing was completed, and the ticket is revoked.
#[test]
fn an_interrupted_wait_completes_nothing() {
    alone(|| {
        let permits = Permits::default();
        pirn::scope(|s| {
            let waiting = s.spawn(|| on(&permits));
            pirn::yield_now();
            waiting.cancel();
            assert_eq!(waiting.join().unwrap(), Err(Interrupt::Cancelled));
        });
        assert!(
            permits.state.lock().unwrap().1.is_empty(),
            "its ticket is still out"
        );
        permits.add();
        assert_eq!(on(&permits), Ok(()));
    });
}

/// A waitable with panicking functions ends the caller's wait, and affects no other.
#[test]
fn a_waitable_that_panics() {
    struct Panics(&'static str);
    impl Waitable for Panics {
        type Output = ();
        fn try_complete(&self) -> Option<()> {
            assert_ne!(self.0, "try", "on purpose");
            None
        }
        fn register(&self, _: Ticket) -> bool {
            assert_ne!(self.0, "register", "on purpose");
            panic!("on purpose, too");
        }
        fn unregister(&self, _: Ticket) {}
    }
    alone(|| {
        for place in ["try", "register"] {
            assert!(pirn::spawn(move || on(&Panics(place))).join().is_err());
        }
        let (tx, rx) = channel::bounded(0);
        let sibling = pirn::spawn(move || tx.send(1));
        assert_eq!(rx.recv(), Ok(1));
        sibling.join().unwrap().unwrap();
    });
}

/// Completes as soon as it has handed out a ticket, and panics when it must drop it.
#[derive(Default)]
struct Clings {
    kept: Mutex<Option<Ticket>>,
}

impl Waitable for Clings {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.kept.lock().unwrap().map(drop)
    }

    fn register(&self, ticket: Ticket) -> bool {
        *self.kept.lock().unwrap() = Some(ticket);
        true
    }

    fn unregister(&self, _: Ticket) {
        panic!("on purpose");
    }
}

/// The ticket of a wait that ended by a panic in `unregister`: it has no effect.
fn wait_that_clings() -> Ticket {
    let clings = Clings::default();
    let unwound = catch_unwind(AssertUnwindSafe(|| on(&clings)));
    assert!(unwound.is_err(), "the panic is the caller's");
    clings.kept.into_inner().unwrap().unwrap()
}

/// A waitable that panics in `unregister` keeps a ticket that ends nothing: a wake that is passed on
/// from one ticket to the next does not stop there, and no later wait is ended.
#[test]
fn a_waitable_that_panics_in_unregister() {
    const NAP: Duration = Duration::from_micros(200);
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                for _ in 0..100 {
                    let ticket = wait_that_clings();
                    assert!(!ticket.wake(), "it takes a wake for itself");
                    let start = pirn::time::now();
                    pirn::sleep(NAP).unwrap();
                    assert!(pirn::time::now() - start >= NAP, "it ends a later wait");
                }
            });
        }
        jobs.run(executor, 2);
    }
}

/// A `register` that returns false has stored nothing: there is nothing to undo, and both are tried
/// again.
#[test]
fn what_was_not_registered_is_not_unregistered() {
    #[derive(Default)]
    struct Denies {
        tries: AtomicUsize,
        registered: AtomicUsize,
    }
    impl Waitable for Denies {
        type Output = ();
        fn try_complete(&self) -> Option<()> {
            self.tries.fetch_add(1, Ordering::SeqCst);
            (self.registered.load(Ordering::SeqCst) == 3).then_some(())
        }
        fn register(&self, _: Ticket) -> bool {
            self.registered.fetch_add(1, Ordering::SeqCst);
            false
        }
        fn unregister(&self, _: Ticket) {
            panic!("nothing was registered");
        }
    }
    pirn::runtime::test(|_| {
        let denies = Denies::default();
        let waited = pirn::timeout(LONG, || on(&denies));
        assert_eq!(waited, Ok(Ok(())));
        assert_eq!(denies.tries.into_inner(), 4);
    });
}

/// A loop of waits that need not wait yields now and then, whichever attempt completes them.
#[test]
fn a_loop_of_complete_waits_gives_way() {
    struct AtTry(usize, AtomicUsize);
    impl Waitable for AtTry {
        type Output = ();
        fn try_complete(&self) -> Option<()> {
            let before = self.1.fetch_add(1, Ordering::SeqCst);
            (before % self.0 == self.0 - 1).then_some(())
        }
        fn register(&self, _: Ticket) -> bool {
            true
        }
        fn unregister(&self, _: Ticket) {}
    }
    for at in [1, 2] {
        alone(move || {
            let other = pirn::spawn(|| ());
            let waitable = AtTry(at, AtomicUsize::new(0));
            (0..1_000).for_each(|_| on(&waitable).unwrap());
            assert!(other.is_finished(), "at try {at}");
        });
    }
}

/// If one `unregister` panics in a select, the others are called all the same.
#[test]
fn a_panic_of_one_leaves_nothing_of_the_others() {
    for _ in 0..20 {
        let (event, clings) = (Event::default(), Clings::default());
        alone(|| {
            let (mut waits, mut panics) = (case(&event), case(&clings));
            let mut select = Select::new();
            select.add(&mut waits);
            select.add(&mut panics);
            // It does not wait, and registers both all the same.
            let wait = AssertUnwindSafe(|| select.try_wait());
            assert!(catch_unwind(wait).is_err());
        });
        assert_eq!(event.waiting(), 0);
    }
}

/// A ticket that outlives its thread is harmless, also to the next user of the memory of that
/// thread's header.
#[test]
fn a_ticket_of_an_ended_thread_is_worthless() {
    const NAP: Duration = Duration::from_millis(5);
    let hoard = Arc::new(Hoard::default());
    let waits = Arc::clone(&hoard);
    let waited = std::thread::spawn(move || on(&*waits));
    eventually("it waits", || hoard.tickets.lock().unwrap().len() == 1);
    hoard.complete.store(1, Ordering::SeqCst);
    assert!(hoard.tickets.lock().unwrap()[0].wake());
    assert_eq!(waited.join().unwrap(), Ok(()));
    let mut kept = vec![hoard.tickets.lock().unwrap()[0]];
    for _ in 0..20 {
        kept.push(std::thread::spawn(wait_that_clings).join().unwrap());
        let next = std::thread::spawn(|| {
            let start = pirn::time::now();
            pirn::sleep(NAP).unwrap();
            pirn::time::now() - start
        });
        while !next.is_finished() {
            assert!(!kept.iter().any(|ticket| ticket.wake()), "it ends a wait");
            std::thread::yield_now();
        }
        assert!(next.join().unwrap() >= NAP, "its first wait was cut short");
    }
}

/// Is there at the second attempt.
#[derive(Default)]
struct Second(AtomicBool);

impl Waitable for Second {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.0.swap(true, Ordering::Relaxed).then_some(())
    }

    fn register(&self, _: Ticket) -> bool {
        false
    }

    fn unregister(&self, _: Ticket) {}
}

/// Waits for such a one.
struct Waits;

impl Wake for Waits {
    fn wake(self: Arc<Self>) {
        on(&Second::default()).unwrap();
    }
}

/// A waker that a fiber calls at its end may begin a wait, while the owner of the handle drops it.
#[test]
fn the_end_of_a_fiber_wakes_while_its_handle_is_dropped() {
    let runtime = runtime(1);
    for _ in 0..scaled(2_000) {
        let mut fiber = runtime.spawn(pirn::yield_now);
        let waker = Waker::from(Arc::new(Waits));
        let polled = Pin::new(&mut fiber).poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            while !fiber.is_finished() {
                std::hint::spin_loop();
            }
        }
        drop(fiber);
    }
}
