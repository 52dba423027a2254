//! Tickets in code that violates the contract of `Waitable`. Such a ticket ends no wait but its
//! own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::runtime;
use crate::select::Select;
use crate::spawn::{JoinHandle, spawn, yield_now};
use crate::wait::{Ticket, Waitable, case, on};

/// The action of `register` with the ticket, which it always keeps.
#[derive(Debug, Copy, Clone)]
enum Deed {
    /// Returns false.
    Denies,
    Panics,
    /// Joins a fiber that uses the ticket, which is forbidden.
    Blocks,
}

struct Rogue {
    deed: Deed,
    kept: Mutex<Option<Ticket>>,
}

impl Rogue {
    fn new(deed: Deed) -> Rogue {
        #[expect(clippy::disallowed_methods, reason = "held for a moment only")]
        let kept = Mutex::new(None);
        Rogue { deed, kept }
    }

    fn kept(&self) -> Option<Ticket> {
        *self.kept.lock().expect("no panic while it is held")
    }
}

impl Waitable for Rogue {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.kept().map(drop)
    }

    fn register(&self, ticket: Ticket) -> bool {
        *self.kept.lock().expect("no panic while it is held") = Some(ticket);
        match self.deed {
            Deed::Denies => false,
            Deed::Panics => panic!("a rogue"),
            Deed::Blocks => {
                assert_eq!(child_that_uses(ticket).join().expect("a number"), 5);
                true
            }
        }
    }

    fn unregister(&self, _ticket: Ticket) {}
}

/// Spawns a fiber that uses the ticket while its parent waits for its end. It ends a while later.
fn child_that_uses(ticket: Ticket) -> JoinHandle<u32> {
    spawn(move || {
        yield_now();
        assert!(
            !ticket.wake(),
            "the ticket ended a wait that is not its own"
        );
        yield_now();
        5
    })
}

/// Waits for `rogue` alone, or in a select.
fn wait_for(rogue: &Rogue, selects: bool) {
    if !selects {
        return on(rogue).expect("no interrupt comes");
    }
    let mut case = case(rogue);
    let mut select = Select::new();
    select.add(&mut case);
    assert_eq!(select.wait(), Ok(0));
}

fn keeps_its_ticket(deed: Deed) {
    for selects in [false, true] {
        runtime::test(|_| {
            let rogue = Rogue::new(deed);
            let wait = AssertUnwindSafe(|| wait_for(&rogue, selects));
            let waited = catch_unwind(wait);
            assert_eq!(waited.is_err(), matches!(deed, Deed::Panics));
            let ticket = rogue.kept().expect("kept in every case");
            assert_eq!(child_that_uses(ticket).join().expect("a number"), 5);
        });
    }
}

/// A wake that is passed on from one ticket to the next does not stop at a ticket of an ended wait.
#[test]
fn a_ticket_kept_through_a_panic_takes_no_wake() {
    for selects in [false, true] {
        runtime::test(|_| {
            let rogue = Rogue::new(Deed::Panics);
            let wait = AssertUnwindSafe(|| wait_for(&rogue, selects));
            assert!(catch_unwind(wait).is_err());
            assert!(!rogue.kept().expect("kept in every case").wake());
        });
    }
}

#[test]
fn a_ticket_that_was_denied_ends_no_other_wait() {
    keeps_its_ticket(Deed::Denies);
}

#[test]
fn a_ticket_kept_through_a_panic_ends_no_other_wait() {
    keeps_its_ticket(Deed::Panics);
}

#[test]
fn a_ticket_that_is_out_ends_no_wait_of_the_code_that_has_it() {
    keeps_its_ticket(Deed::Blocks);
}
