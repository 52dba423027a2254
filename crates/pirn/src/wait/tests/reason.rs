//! Reasons and the numbers that stand for them in events.

use crate::wait::Reason::{self, *};

/// Numbers the reasons. A new one does not compile until it is added here.
fn how_many(reason: Reason) -> u32 {
    match reason {
        Park | Sleep | Join | Scope | Token | Group | Run | Blocking | File
        | Dispatch | Idle | Mutex | Condvar | WaitGroup | RwLock | Semaphore
        | Barrier | Once | Event | Send | Recv | Oneshot | Broadcast | Watch | Select
        | Waitable | Key | Readable | Writable | Future | Child | Closed => 32,
    }
}

#[test]
fn every_reason_has_a_number() {
    let all = how_many(Park);
    for number in 1..=all {
        let reason = Reason::numbered(number);
        assert_eq!(reason.map(|reason| reason as u32), Some(number));
    }
    assert_eq!(Reason::numbered(0), None);
    assert_eq!(Reason::numbered(all + 1), None);
}

/// Spawn lines with short runs that end in a wait for another fiber start together; not those that
/// wait for an event outside of the runtime.
#[test]
fn what_comes_from_outside_is_for_no_fiber() {
    let outside = |number: &u32| {
        let reason = Reason::numbered(*number).expect("it has one");
        !reason.is_for_a_fiber()
    };
    let outside: Vec<u32> = (1..=how_many(Park)).filter(outside).collect();
    let expected = [Sleep, Blocking, File, Readable, Writable, Future, Child];
    assert_eq!(outside, expected.map(|reason| reason as u32));
}
