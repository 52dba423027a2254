//! What jobs have been worth.

use crate::sched::gain::Gain;
use crate::sched::pace::{EXPECT, WORTH};

#[test]
fn the_first_wake_up_is_worth_a_try() {
    let gain = Gain::new();
    assert!(gain.settle());
    assert!(!gain.promises_more(1));
}

/// What is divided finely ends with small jobs, which do not make the large ones forgotten.
#[test]
fn small_jobs_at_the_end_are_forgiven() {
    let gain = Gain::new();
    gain.add(0, 100 * WORTH);
    let mut now = 100 * WORTH;
    for _ in 0..10 {
        now += 1;
        gain.add(now - 1, now);
        assert!(gain.promises_more(now));
    }
    assert!(gain.settle());
}

#[test]
fn small_jobs_alone_do_not_pay() {
    let gain = Gain::new();
    gain.add(0, WORTH / 2);
    assert!(!gain.promises_more(WORTH / 2));
    assert!(!gain.settle());
    // Being woken for something else says nothing of jobs.
    assert!(!gain.settle());
    gain.add(0, WORTH);
    assert!(gain.settle());
    assert!(gain.settle());
}

/// Many small jobs are worth a wake-up, but are not watched for.
#[test]
fn a_long_row_of_small_jobs_ends_the_watch() {
    let gain = Gain::new();
    gain.add(0, 100 * WORTH);
    let watched = (0..100).take_while(|&n| {
        gain.add(n, n + WORTH / 10);
        gain.promises_more(n + WORTH / 10)
    });
    assert!(watched.count() < 50);
    assert!(gain.settle());
}

#[test]
fn a_watch_ends() {
    let gain = Gain::new();
    gain.add(0, WORTH);
    assert!(gain.promises_more(WORTH + EXPECT - 1));
    assert!(!gain.promises_more(WORTH + EXPECT));
}
