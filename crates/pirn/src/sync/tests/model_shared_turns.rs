//! Models: readers and writers at one lock. No party reads while another writes, and every waiter
//! that can be served is served.

use std::sync::Arc;

use super::fixture::{Watched, fibers, hasty, join, patient};
use crate::base::tests::explore::explore;
use crate::fiber::current;
use crate::fiber::tests::stage::Block;
use crate::shim::Lock;
use crate::shim::thread::JoinHandle;
use crate::sync::shared_turns::{Kind, SharedTurns};
use crate::wait::Spec;

struct Room {
    turns: Lock<SharedTurns>,
    value: Watched,
}

impl Room {
    fn new() -> Arc<Room> {
        Arc::new(Room {
            turns: Lock::new(SharedTurns::new()),
            value: Watched::new(),
        })
    }

    /// Takes one turn and ends it; returns false if there was none in time.
    fn visit(&self, kind: Kind, spec: &Spec) -> bool {
        let taken = SharedTurns::take(current::local(), &self.turns, kind, spec).is_ok();
        if taken {
            match kind {
                Kind::Read => self.value.read(),
                Kind::Write => self.value.write(),
            }
            SharedTurns::free(&self.turns, kind);
        }
        taken
    }

    /// Takes a turn in another thread's fiber.
    fn visitor(
        self: &Arc<Self>,
        fiber: &Arc<Block>,
        kind: Kind,
        spec: fn() -> Spec,
    ) -> JoinHandle<()> {
        let room = Arc::clone(self);
        fiber.start(move || {
            room.visit(kind, &spec());
        })
    }

    /// Checks after all threads have ended that no waiter and no turn is left.
    fn close(&self) {
        assert!(self.turns.lock().try_take(Kind::Write, 1), "a turn is out");
        SharedTurns::free(&self.turns, Kind::Write);
        assert!(self.turns.lock().try_take(Kind::Read, 1));
        assert!(
            self.turns.lock().try_take(Kind::Read, 1),
            "a writer is counted"
        );
    }
}

#[test]
fn model_turns_of_two_writers() {
    explore("turns_of_two_writers", 3, || {
        let (room, [ours, theirs]) = (Room::new(), fibers());
        let other = room.visitor(&theirs, Kind::Write, patient);
        assert!(ours.play(|| room.visit(Kind::Write, &patient())));
        join([other]);
        room.close();
    });
}

#[test]
fn model_turns_of_a_writer_between_readers() {
    explore("turns_of_a_writer_between_readers", 2, || {
        let (room, [ours, first, second]) = (Room::new(), fibers());
        let others = [
            room.visitor(&first, Kind::Write, patient),
            room.visitor(&second, Kind::Read, patient),
        ];
        assert!(ours.play(|| room.visit(Kind::Read, &patient())));
        join(others);
        room.close();
    });
}

/// A reader holds the lock all the time. A writer waits, for a while. A reader behind it is served
/// when the writer has left.
#[test]
fn model_turns_behind_a_writer_that_gives_up() {
    explore("turns_behind_a_writer_that_gives_up", 2, || {
        let (room, [ours, theirs]) = (Room::new(), fibers());
        assert!(room.turns.lock().try_take(Kind::Read, 1));
        let writer = room.visitor(&theirs, Kind::Write, hasty);
        assert!(ours.play(|| room.visit(Kind::Read, &patient())));
        join([writer]);
        SharedTurns::free(&room.turns, Kind::Read);
        room.close();
    });
}

/// A writer that may give up, while the reader in front of it ends its turn.
#[test]
fn model_turns_given_to_one_that_gives_up() {
    explore("turns_given_to_one_that_gives_up", 2, || {
        let (room, [ours, first, second]) = (Room::new(), fibers());
        let others = [
            room.visitor(&first, Kind::Read, patient),
            room.visitor(&second, Kind::Write, patient),
        ];
        ours.play(|| room.visit(Kind::Write, &hasty()));
        join(others);
        room.close();
    });
}

/// A writer becomes a reader, and waiting readers are served.
#[test]
fn model_turns_downgraded() {
    explore("turns_downgraded", 2, || {
        let (room, [theirs]) = (Room::new(), fibers());
        assert!(room.turns.lock().try_take(Kind::Write, 1));
        let reader = room.visitor(&theirs, Kind::Read, patient);
        room.value.write();
        SharedTurns::downgrade(&room.turns);
        room.value.read();
        // The reader still holds its turn.
        join([reader]);
        SharedTurns::free(&room.turns, Kind::Read);
        room.close();
    });
}

/// A reader gets the right to write while other readers leave and a writer waits.
#[test]
fn model_turns_upgraded() {
    explore("turns_upgraded", 2, || {
        let (room, [ours, first, second]) = (Room::new(), fibers());
        assert!(room.turns.lock().try_take(Kind::Read, 1));
        let others = [
            room.visitor(&first, Kind::Read, patient),
            room.visitor(&second, Kind::Write, patient),
        ];
        ours.play(|| {
            room.value.read();
            SharedTurns::upgrade(current::local(), &room.turns, &patient());
            room.value.write();
            SharedTurns::free(&room.turns, Kind::Write);
        });
        join(others);
        room.close();
    });
}
