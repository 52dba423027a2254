//! Tickets used by primitives of the user.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pirn::wait::{Ticket, Waitable, on};

use crate::util::{explore, thread};

/// A flag that can be waited for, as a user would write one.
#[derive(Default)]
struct Flag {
    raised: AtomicBool,
    waiting: Mutex<Vec<Ticket>>,
}

impl Flag {
    fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *self.waiting.lock().expect("no panics"));
        for ticket in waiting {
            ticket.wake();
        }
    }
}

impl Waitable for Flag {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.raised.load(Ordering::SeqCst).then_some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        self.waiting.lock().expect("no panics").push(ticket);
        true
    }

    fn unregister(&self, ticket: Ticket) {
        self.waiting
            .lock()
            .expect("no panics")
            .retain(|other| *other != ticket);
    }
}

#[test]
fn a_flag_of_the_users_own() {
    explore(|world| {
        let runtime = world.runtime();
        let flag = Arc::new(Flag::default());
        let waiters = [0, 1].map(|_| {
            let flag = Arc::clone(&flag);
            runtime.spawn(move || on(&*flag).expect("not cancelled"))
        });
        let outside = {
            let flag = Arc::clone(&flag);
            thread(move || on(&*flag).expect("a thread is not cancelled"))
        };
        let raiser = {
            let flag = Arc::clone(&flag);
            runtime.spawn(move || flag.raise())
        };
        raiser.join().expect("it raises");
        waiters
            .into_iter()
            .for_each(|waiter| waiter.join().expect("it sees the flag"));
        outside.join().expect("it sees the flag");
    });
}
