//! Reports against concurrent activity: the snapshot is taken while fibers park, are woken and end,
//! from a thread and from fibers at the same time.

use pirn::{channel, spawn};

use crate::util::{explore, thread};

/// A thread and a fiber take reports while two others meet: each fiber is reported at most once,
/// and no fiber is delayed.
// Proves: P4.
#[test]
fn a_snapshot_amid_a_rendezvous() {
    explore(|world| {
        let runtime = world.runtime();
        let handle = runtime.handle();
        let asks = thread(move || {
            let mut reported: Vec<_> =
                handle.fibers().iter().map(|fiber| fiber.id).collect();
            let all = reported.len();
            reported.sort_unstable();
            reported.dedup();
            assert_eq!(reported.len(), all, "a fiber was reported twice");
        });
        runtime.run(|| {
            let (tx, rx) = channel::bounded(0);
            let sends = spawn(move || tx.send(1).expect("the other end is there"));
            let own = spawn::current().id();
            let reported = pirn::runtime::Handle::current().fibers();
            assert!(
                reported.iter().any(|fiber| fiber.id == own),
                "the fiber that asks runs"
            );
            assert_eq!(rx.recv(), Ok(1));
            sends.join().expect("it ends");
        });
        asks.join().expect("it ends");
    });
}
