//! Intervals tick at equal distances; missed ticks are treated as configured.

use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::with_deadline;
use pirn::runtime::test;
use pirn::time::{Interval, MissedTick, interval, now, sleep};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};

const PERIOD: Duration = Duration::from_millis(10);

/// Returns when each of `n` ticks was due and when it was taken, in milliseconds, after a first
/// tick and a pause of `pause`.
fn ticks(missed: MissedTick, pause: u64, n: usize) -> Vec<(u128, u128)> {
    test(|_| {
        let start = now();
        let mut ticks = interval(PERIOD).missed(missed);
        assert_eq!(ticks.tick(), Ok(start), "the first one comes at once");
        sleep(Duration::from_millis(pause)).unwrap();
        let tick = |ticks: &mut Interval| {
            let due = ticks.tick().unwrap() - start;
            (due.as_millis(), (now() - start).as_millis())
        };
        (0..n).map(|_| tick(&mut ticks)).collect()
    })
}

// Proves: N12.
#[test]
fn ticks_that_are_not_missed_are_a_period_apart() {
    for missed in [MissedTick::Burst, MissedTick::Delay, MissedTick::Skip] {
        assert_eq!(ticks(missed, 0, 3), [(10, 10), (20, 20), (30, 30)]);
        assert_eq!(ticks(missed, 9, 3), [(10, 10), (20, 20), (30, 30)]);
        assert_eq!(ticks(missed, 13, 2), [(10, 13), (20, 20)]);
    }
}

// Proves: N12.
#[test]
fn missed_ticks_are_made_up_for() {
    let came = [(10, 35), (20, 35), (30, 35), (40, 40), (50, 50)];
    assert_eq!(ticks(MissedTick::Burst, 35, 5), came);
}

// Proves: N12.
#[test]
fn a_late_tick_delays_the_next() {
    let came = [(10, 35), (45, 45), (55, 55)];
    assert_eq!(ticks(MissedTick::Delay, 35, 3), came);
    assert_eq!(ticks(MissedTick::Delay, 16, 2), [(10, 16), (26, 26)]);
}

// Proves: N12.
#[test]
fn missed_ticks_are_left_out() {
    let came = [(10, 35), (40, 40), (50, 50)];
    assert_eq!(ticks(MissedTick::Skip, 35, 3), came);
    // Exactly at a tick, which is the next one then.
    assert_eq!(ticks(MissedTick::Skip, 30, 2), [(10, 30), (40, 40)]);
    assert_eq!(ticks(MissedTick::Skip, 16, 2), [(10, 16), (20, 20)]);
}

/// An interrupted tick remains due.
#[test]
fn an_interrupted_tick_is_not_lost() {
    test(|_| {
        let start = now();
        let mut ticks = interval(PERIOD);
        ticks.tick().unwrap();
        let soon = start + PERIOD / 2;
        let interrupted = with_deadline(soon, || [ticks.tick(), ticks.tick()]);
        assert_eq!(interrupted, [Err(Interrupt::TimedOut); 2]);
        assert_eq!(now(), soon);
        assert_eq!(ticks.tick(), Ok(start + PERIOD));
        let fiber = pirn::spawn(move || ticks.tick());
        sleep(PERIOD / 2).unwrap();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), Err(Interrupt::Cancelled));
    });
}

/// Against the real clock, on fibers and threads: never early, and the rhythm holds.
#[test]
fn ticks_are_not_early() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..4 {
            jobs.add(|| {
                let mut ticks = interval(Duration::from_millis(1));
                let first = ticks.tick().unwrap();
                for i in 1..10 {
                    let due = ticks.tick().unwrap();
                    assert_eq!(due, first + i * ticks.period());
                    assert!(now() >= due);
                }
            });
        }
        jobs.run(executor, 2);
    }
}

#[test]
#[should_panic(expected = "an interval of no length")]
fn no_interval_is_of_no_length() {
    let _ = interval(Duration::ZERO);
}

/// A period that the clock cannot express has one tick.
#[test]
fn an_endless_period_ticks_once() {
    test(|_| {
        let mut ticks = interval(Duration::MAX);
        ticks.tick().unwrap();
        let later = now() + Duration::from_secs(100);
        let second = with_deadline(later, || ticks.tick());
        assert_eq!((second, now()), (Err(Interrupt::TimedOut), later));
    });
}

// Proves: J5.
#[test]
fn a_tick_is_a_case() {
    let mut ticks = interval(Duration::from_millis(2));
    let mut seen = Vec::new();
    while seen.len() < 3 {
        pirn::select! {
            case(ticks.case()) -> due => seen.push(due),
            cancelled(_) => panic!("not cancelled"),
        }
    }
    assert!(
        seen.windows(2)
            .all(|two| two[1] - two[0] == Duration::from_millis(2))
    );
}

/// A tick that is received late moves the next one to a period later.
// Proves: I25.
#[test]
fn a_channel_of_ticks_does_not_flood_a_slow_receiver() {
    test(|_| {
        let start = now();
        let ticks = pirn::channel::tick(PERIOD);
        let next = || {
            let due = ticks.recv().unwrap() - start;
            (due.as_millis(), (now() - start).as_millis())
        };
        assert_eq!([next(), next()], [(10, 10), (20, 20)]);
        sleep(Duration::from_millis(35)).unwrap();
        assert_eq!([next(), next(), next()], [(30, 55), (65, 65), (75, 75)]);
    });
}
