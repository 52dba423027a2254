//! Which delays the monitor counts as a lost wake.

use crate::sched::policy::sysmon::{Look, since};

const MS: u64 = 1_000_000;

/// A look at a worker that sleeps with fibers in its inbox and without a notification, or not.
fn look(last: &Look, unaware: bool, at: u64) -> Look {
    let mut look = *last;
    look.unaware = since(last.unaware, unaware, at);
    look
}

/// A thread that has pushed a fiber to an inbox may be preempted before it notifies the worker.
#[test]
fn a_wake_on_its_way_is_not_lost() {
    let mut last = Look::default();
    for at in 1..150 {
        last = look(&last, true, at * MS);
        assert!(!last.has_lost_a_wake(at * MS), "after {at} ms");
    }
    // The notification has come, and so has the next fiber.
    last = look(&last, false, 150 * MS);
    for at in 151..300 {
        last = look(&last, true, at * MS);
        assert!(!last.has_lost_a_wake(at * MS), "after {at} ms");
    }
}

#[test]
fn a_wake_that_does_not_come_is_lost() {
    let mut last = Look::default();
    let lost = (1..).find(|at| {
        last = look(&last, true, at * MS);
        last.has_lost_a_wake(at * MS)
    });
    assert_eq!(lost, Some(201));
}
