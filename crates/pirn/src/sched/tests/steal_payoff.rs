//! The worth of jobs.

use crate::sched::worker::records::intervals::{EXPECT, WORTH};
use crate::sched::worker::records::steal_payoff::StealPayoff;

/// Goes to sleep, and returns whether it is worth waking.
fn sleeps(gain: &StealPayoff) -> bool {
    gain.settle();
    gain.is_worth_a_wake()
}

#[test]
fn the_first_wake_up_is_worth_a_try() {
    let gain = StealPayoff::new();
    assert!(sleeps(&gain));
    assert_eq!(gain.worth_watching(1), 0);
}

/// Work that is divided finely ends with small jobs, which do not erase the large ones.
#[test]
fn small_jobs_at_the_end_are_forgiven() {
    let gain = StealPayoff::new();
    for round in 0..10 {
        let mut now = round * 1_000 * WORTH;
        gain.add(now, now + 100 * WORTH);
        now += 100 * WORTH;
        for _ in 0..10 {
            now += 1;
            gain.add(now - 1, now);
            assert_eq!(gain.worth_watching(now), EXPECT);
        }
        assert!(sleeps(&gain));
    }
}

#[test]
fn small_jobs_alone_do_not_pay() {
    let gain = StealPayoff::new();
    let tries = (0..100).take_while(|_| {
        gain.add(0, WORTH / 2);
        assert!(!gain.is_good());
        assert_eq!(gain.worth_watching(WORTH / 2), 0);
        sleeps(&gain)
    });
    assert!((1..10).contains(&tries.count()));
    // A wake for something else does not count for jobs.
    assert!(!sleeps(&gain));
    gain.add(0, WORTH);
    assert!(sleeps(&gain));
    assert!(sleeps(&gain));
}

/// Many small jobs are worth a wake-up, but are not watched for.
#[test]
fn a_long_row_of_small_jobs_ends_the_watch() {
    let gain = StealPayoff::new();
    let small = WORTH / 10;
    gain.add(0, 100 * WORTH);
    let begin = 100 * WORTH;
    let watched = (0..100).take_while(|n| {
        let now = begin + n * EXPECT;
        gain.add(now, now + small);
        gain.is_good()
    });
    assert!(watched.count() < 50);
    assert!(sleeps(&gain));
}

#[test]
fn a_watch_ends() {
    let gain = StealPayoff::new();
    let long = 10 * WORTH;
    gain.add(0, long);
    assert!(gain.is_good());
    assert_eq!(gain.worth_watching(long + EXPECT - 1), 1);
    assert_eq!(gain.worth_watching(long + EXPECT), 0);
    gain.expect(long + EXPECT);
    assert_eq!(gain.worth_watching(long + EXPECT), EXPECT);
}
