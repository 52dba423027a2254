//! Models: permits that are taken, given back, waited for and closed. No more are out than exist,
//! and every waiter that can be served is served.

use std::sync::Arc;

use super::fixture::{Watched, fibers, hasty, join, patient, thread};
use crate::base::tests::explore::explore;
use crate::shim::Lock;
use crate::sync::permits::{Denied, Permits};

struct Room {
    permits: Lock<Permits>,
    value: Watched,
}

impl Room {
    fn new(permits: usize) -> Arc<Room> {
        Arc::new(Room {
            permits: Lock::new(Permits::new(permits)),
            value: Watched::new(),
        })
    }

    /// Takes `want` permits, writes the value, and returns the permits.
    fn visit(&self, want: usize) {
        assert_eq!(Permits::take(&self.permits, want, &patient()), Ok(()));
        self.value.write();
        Permits::give(&self.permits, want);
    }
}

#[test]
fn model_permits_go_round() {
    explore("permits_go_round", 2, || {
        let (room, [ours, first, second]) = (Room::new(2), fibers());
        let others = [&first, &second].map(|fiber| {
            let room = Arc::clone(&room);
            fiber.start(move || room.visit(2))
        });
        ours.play(|| room.visit(2));
        join(others);
        assert_eq!(room.permits.lock().free(), 2);
    });
}

/// One permit is free. A request for two waits until its time limit. A request for one is served:
/// at once if it comes first, else when the other has left.
#[test]
fn model_permits_behind_one_that_gives_up() {
    explore("permits_behind_one_that_gives_up", 2, || {
        let (room, [ours, theirs]) = (Room::new(1), fibers());
        let large = {
            let room = Arc::clone(&room);
            theirs.start(move || {
                let taken = Permits::take(&room.permits, 2, &hasty());
                assert!(matches!(taken, Err(Denied::Ended(_))));
            })
        };
        ours.play(|| room.visit(1));
        join([large]);
        assert_eq!(room.permits.lock().free(), 1);
    });
}

/// A permit is added while the first waiter gives up. The next waiter gets it, at once or after the
/// first has returned it.
#[test]
fn model_permits_given_to_one_that_gives_up() {
    explore("permits_given_to_one_that_gives_up", 2, || {
        let (room, [ours, theirs]) = (Room::new(0), fibers());
        let first = {
            let room = Arc::clone(&room);
            theirs.start(move || {
                if Permits::take(&room.permits, 1, &hasty()).is_ok() {
                    Permits::give(&room.permits, 1);
                }
            })
        };
        let giver = {
            let room = Arc::clone(&room);
            thread(move || assert!(Permits::add(&room.permits, 1)))
        };
        ours.play(|| room.visit(1));
        join([first, giver]);
        assert_eq!(room.permits.lock().free(), 1);
    });
}

/// A permit is added while the semaphore is being closed: it is taken by a waiter, or still free.
#[test]
fn model_permits_closed_against_added() {
    explore("permits_closed_against_added", 2, || {
        let (room, [ours]) = (Room::new(0), fibers());
        let closer = {
            let room = Arc::clone(&room);
            thread(move || Permits::close(&room.permits))
        };
        let giver = {
            let room = Arc::clone(&room);
            thread(move || assert!(Permits::add(&room.permits, 1)))
        };
        let taken = ours.play(|| Permits::take(&room.permits, 1, &patient()));
        join([closer, giver]);
        match taken {
            Ok(()) => assert_eq!(room.permits.lock().free(), 0),
            Err(denied) => {
                assert_eq!(denied, Denied::Closed);
                assert_eq!(room.permits.lock().free(), 1);
            }
        }
        let late = Permits::take(&room.permits, 1, &patient());
        assert_eq!(late, Err(Denied::Closed));
    });
}
