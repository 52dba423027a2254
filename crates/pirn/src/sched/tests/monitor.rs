//! Which delays the monitor counts as a lost wake, and what it remembers of a run.

use crate::sched::policy::sysmon::{Look, Run, since};

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

/// A thread that has waited at the last look may wait for a processor at this one. The answer of a
/// run says nothing about the next run.
// Proves: E2, N3.
#[test]
fn the_last_answer_about_a_run_is_kept() {
    let mut run = Run::default().next(true);
    run.waits = Some(true);
    assert!(run.next(true).waited);
    let silent = run.next(true).next(true);
    assert!(silent.waited, "after a look that asked nothing");
    assert!(!run.next(false).waited, "in the next run");
    run.waits = Some(false);
    assert!(!run.next(true).waited);
}
