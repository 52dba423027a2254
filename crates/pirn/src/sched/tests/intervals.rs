//! Decisions that depend on how long fibers have run.

use crate::sched::worker::records::intervals::{Intervals, SURPLUS};

/// Returns the intervals after enough rounds of fibers that run for `run` nanoseconds each.
fn intervals(run: u64) -> Intervals {
    let intervals = Intervals::new(0);
    for round in 1..=200 {
        intervals.round(10, round * 10 * run);
    }
    intervals
}

/// The injector is polled once in 200 microseconds of runs, but at least once in 127 runs, and at
/// most once in two.
// Proves: D-2.
#[test]
fn slow_fibers_look_at_the_injector_sooner() {
    let runs = [0, 1, 1_000, 2_000, 10_000, 50_000, 1_000_000];
    let lengths = runs.map(|run| intervals(run).injector_interval());
    assert_eq!(lengths, [127, 127, 127, 100, 20, 4, 2]);
    assert_eq!(Intervals::new(0).injector_interval(), 127);
}

/// Each round moves the average a quarter of the way to the length of its runs, up or down.
#[test]
fn the_average_follows() {
    let intervals = intervals(1_000);
    let round = |at, interval| {
        intervals.round(1, at);
        assert_eq!(intervals.injector_interval(), interval);
    };
    let begin = 2_000_000;
    // To 2,000 nanoseconds, and back a quarter.
    round(begin + 5_000, 100);
    round(begin + 6_000, 114);
    // The worker did not run fibers meanwhile.
    intervals.resume(begin + 10_000_000);
    round(begin + 10_001_000, 127);
}

#[test]
fn long_runs_are_surplus_and_slow() {
    // The average is 1,000 at first; this round of one run makes it `run`.
    let average = |run: u64| {
        let intervals = Intervals::new(0);
        intervals.round(1, 4 * run - 3_000);
        intervals
    };
    assert!(!average(1_000).is_surplus(49) && average(1_000).is_surplus(50));
    assert!(!average(SURPLUS - 1).is_surplus(1) && average(SURPLUS).is_surplus(1));
    assert!(!average(1_000_000).is_surplus(0));
    assert!(!average(199_999).is_slow() && average(200_000).is_slow());
}
