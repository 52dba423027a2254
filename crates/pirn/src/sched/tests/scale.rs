//! The decisions from the evidence.

use crate::sched::policy::scale::{Evidence, RunningLines};
use crate::sched::pool::threads::decisions::{Decisions, ScaleReason};

/// Two members, both blocked, with work that has aged behind them.
const BLOCKED: Evidence = Evidence {
    waiting: 9,
    aged: 9,
    woken: false,
    awake: 2,
    advancing: 0,
    wait: 2,
    compute: 0,
    soon: 0,
    fire_at: u64::MAX,
    unaware: false,
    joining: false,
    crowded: false,
    running: RunningLines::EMPTY,
    alike: 0,
};

// Proves: E4, E8, P9.
#[test]
fn each_reason_for_leaving_it_as_it_is() {
    let decide = |change: fn(&mut Evidence)| {
        let mut seen = BLOCKED;
        change(&mut seen);
        seen.wanted(2, 2)
    };
    assert_eq!(decide(|_| ()), Ok(1));
    assert_eq!(decide(|s| s.waiting = 0), Err(ScaleReason::NoWork));
    assert_eq!(decide(|s| s.woken = true), Err(ScaleReason::IdleCapacity));
    assert_eq!(decide(|s| s.aged = 0), Err(ScaleReason::Young));
    assert_eq!(decide(|s| s.wait = 0), Err(ScaleReason::NotStuck));
    // As many run as intended, though others wait.
    assert_eq!(decide(|s| s.awake = 4), Err(ScaleReason::NotStuck));
    let computing = |s: &mut Evidence| (s.wait, s.compute) = (0, 2);
    assert_eq!(decide(computing), Ok(1));
    // Twice as many as there are members, not more.
    let crowded = |s: &mut Evidence| (s.awake, s.wait, s.compute) = (4, 0, 2);
    assert_eq!(decide(crowded), Err(ScaleReason::AtLimit));
}

/// However many wait and however many threads there are, no more than twice as many as there are
/// members compute at a time.
// Proves: E2.
#[test]
fn no_more_than_twice_as_many_compute() {
    for members in 1..=8 {
        for run in 1..3 * members {
            let seen = Evidence {
                waiting: 99,
                aged: 99,
                awake: run,
                compute: run,
                ..Evidence::default()
            };
            let room = (2 * members).saturating_sub(run);
            let wanted = match room {
                0 => Err(ScaleReason::AtLimit),
                room => Ok(room.min(run)),
            };
            assert_eq!(seen.wanted(members, 99), wanted, "{run} of {members}");
        }
    }
}

/// Sixteen members and a hundred fibers that block at once: the threads grow by half of their
/// number, each time that all have blocked, and never beyond the fibers.
// Proves: E3.
#[test]
fn half_of_the_threads_at_a_time() {
    let (mut threads, mut left) = (16, 84);
    let mut trace = vec![threads];
    while left > 0 {
        let seen = Evidence {
            waiting: left,
            aged: left,
            awake: threads,
            wait: threads,
            ..Evidence::default()
        };
        let more = seen.wanted(16, threads).expect("all are stuck");
        assert!(more <= left && more <= threads.div_ceil(2) && more <= 32);
        threads += more;
        left -= more;
        trace.push(threads);
    }
    assert_eq!(trace, [16, 24, 36, 54, 81, 100]);
}

// Proves: P10-log.
#[test]
fn a_refusal_is_news_once() {
    let scale = Decisions::default();
    assert!(scale.is_news(ScaleReason::AtLimit));
    assert!(!scale.is_news(ScaleReason::AtLimit));
    // Looks in between, which decide nothing.
    assert!(!scale.is_news(ScaleReason::Young) && !scale.is_news(ScaleReason::AtLimit));
    assert!(scale.is_news(ScaleReason::NoThread));
    assert!(!scale.is_news(ScaleReason::NoWork) && scale.is_news(ScaleReason::NoThread));
    for change in [ScaleReason::Started, ScaleReason::Retired] {
        assert!(scale.is_news(change) && scale.is_news(change));
        assert!(scale.is_news(ScaleReason::AtLimit));
    }
}

/// Each decision has a count of its own, and a name.
// Proves: E8.
#[test]
fn every_reason_is_counted() {
    let scale = Decisions::default();
    let names: Vec<String> = scale.get().iter().map(|(r, _)| r.to_string()).collect();
    let expected = [
        "no_work",
        "nonpositive",
        "young",
        "idle_capacity",
        "not_stuck",
        "at_limit",
        "no_thread",
        "started",
        "recalled",
        "apart",
        "sent_away",
        "retired",
    ];
    assert_eq!(names, expected);
    for (index, (reason, _)) in scale.get().into_iter().enumerate() {
        assert_eq!(reason as usize, index, "{reason} has the count of another");
        (0..=index).for_each(|_| scale.count(reason));
    }
    let counts: Vec<u64> = scale.get().into_iter().map(|(_, n)| n).collect();
    assert_eq!(counts, (1..=expected.len() as u64).collect::<Vec<_>>());
}
