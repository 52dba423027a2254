//! The ready cases of a select are choices of the schedule.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn::channel::{self, Receiver};
use pirn::select::Select;
use pirn_sim::{Campaign, Strategy, campaign};

/// Returns which of two receivers a select took first.
fn first_of(one: &Receiver<u32>, other: &Receiver<u32>) -> u32 {
    pirn::select! {
        recv(one) -> value => value.unwrap(),
        recv(other) -> value => value.unwrap(),
    }
}

/// Returns two channels with a value each: 1 and 2.
fn full() -> (Receiver<u32>, Receiver<u32>) {
    let ((to_one, one), (to_other, other)) = (channel::bounded(1), channel::bounded(1));
    to_one.send(1).unwrap();
    to_other.send(2).unwrap();
    (one, other)
}

/// Returns the values that `body` returned in the runs of a campaign, and the number of runs.
fn values(
    campaign: Campaign,
    body: impl Fn() -> u32 + Send + Sync + 'static,
) -> (HashSet<u32>, u64) {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let all = Arc::clone(&seen);
    let outcome = campaign.explore(move || _ = all.lock().unwrap().insert(body()));
    assert!(outcome.failure.is_none());
    let seen = seen.lock().unwrap().clone();
    (seen, outcome.runs)
}

// Proves: U13.
#[test]
fn a_search_takes_each_ready_case() {
    for preemptions in [1, u32::MAX] {
        let search = campaign().strategy(Strategy::Exhaustive { preemptions });
        let (seen, runs) = values(search, || {
            let (one, other) = full();
            first_of(&one, &other)
        });
        assert_eq!(seen, HashSet::from([1, 2]));
        assert_eq!(runs, 2);
    }
}

// Proves: U13.
#[test]
fn cases_that_are_not_ready_are_no_choices() {
    let search = campaign().strategy(Strategy::Exhaustive { preemptions: 1 });
    let (seen, runs) = values(search, || {
        let (tx, one) = channel::bounded(1);
        let (_open, other) = channel::bounded(1);
        tx.send(7).unwrap();
        first_of(&one, &other)
    });
    assert_eq!((seen, runs), (HashSet::from([7]), 1));
}

// Proves: U13.
#[test]
fn a_campaign_takes_each_ready_case() {
    let body = || {
        let (one, other) = full();
        first_of(&one, &other)
    };
    for strategy in [Strategy::Portfolio, Strategy::Guided] {
        let runs = campaign().seed(1).runs(50).strategy(strategy);
        assert_eq!(values(runs, body).0, HashSet::from([1, 2]));
    }
}

/// Fails if the cases of five selects, two of which are ready each time, are alternately taken.
fn fails() {
    let taken = (0..5).map(|_| {
        let (one, other) = full();
        first_of(&one, &other)
    });
    let taken: Vec<_> = taken.collect();
    assert!(
        taken.windows(2).any(|two| two[0] == two[1]),
        "they alternate"
    );
}

// Proves: U13.
#[test]
fn the_cases_are_part_of_the_trace() {
    let failure = campaign().seed(1).find(fails).unwrap();
    let trace = failure.trace().to_string();
    let parts: Vec<_> = trace.trim_start_matches("1:0:").split(',').collect();
    assert!((1..=2).contains(&parts.len()), "{trace}");
    assert!(
        parts
            .iter()
            .all(|part| part.starts_with("0.") && part.contains('?')),
        "{trace}"
    );
    let report = failure.to_string();
    let line = "in a select of fiber 0 (the body of the test) at crates/pirn-sim/tests/it/cases.rs";
    assert!(report.contains(line), "{report}");
    assert!(report.contains(" of 2 ready cases was taken"), "{report}");
    let replay = |trace: &str| campaign().replay(trace.parse().unwrap()).find(fails);
    assert!(replay(&trace).is_some());
    assert!(replay("1:0:").is_none());
}

/// A closed channel stays ready.
// Proves: U13.
#[test]
fn no_case_is_left_out_indefinitely() {
    let merge = || {
        let (one, other) = full();
        let mut ended = [false, false];
        while ended != [true, true] {
            pirn::select! {
                recv(one) -> value => ended[0] |= value.is_err(),
                recv(other) -> value => ended[1] |= value.is_err(),
            }
        }
    };
    campaign().runs(100).choices(1_000).check(merge);
    for preemptions in [2, u32::MAX] {
        let search = campaign().strategy(Strategy::Exhaustive { preemptions });
        let outcome = search.choices(1_000).explore(merge);
        assert!(outcome.complete && outcome.failure.is_none());
    }
}

// Proves: U13.
#[test]
fn the_cases_of_a_fiber_do_not_depend_on_others() {
    let cases = |others: usize| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        // The canonical schedule, with cases from the seed.
        let runs = campaign().seed(7).runs(20);
        runs.strategy(Strategy::Delays { most: 0 }).check(move || {
            let fibers = (0..others).map(|_| {
                pirn::spawn(|| {
                    let (one, other) = full();
                    first_of(&one, &other);
                })
            });
            let fibers: Vec<_> = fibers.collect();
            let taken: Vec<_> = (0..8)
                .map(|_| {
                    let (one, other) = full();
                    first_of(&one, &other)
                })
                .collect();
            all.lock().unwrap().push(taken);
            fibers.into_iter().for_each(|it| it.join().unwrap());
        });
        Arc::into_inner(seen).unwrap().into_inner().unwrap()
    };
    let alone = cases(0);
    assert!(alone.iter().collect::<HashSet<_>>().len() > 10, "{alone:?}");
    assert_eq!(alone, cases(3));
}

/// A look at a case does not count as a party that waits.
// Proves: U13.
#[test]
fn a_look_completes_no_case_of_another_fiber() {
    campaign()
        .runs(20)
        .strategy(Strategy::Delays { most: 0 })
        .check(|| {
            let (tx, rx) = channel::bounded::<u32>(0);
            let watcher = pirn::spawn(move || {
                let mut ready = tx.ready_case();
                let mut select = Select::new();
                select.add(&mut ready);
                let won = select.wait_timeout(Duration::from_secs(5)).unwrap();
                drop(select);
                drop(ready);
                (won, tx)
            });
            pirn::sleep(Duration::from_secs(1)).unwrap();
            let (other, _) = full();
            pirn::select! {
                recv(rx) -> value => _ = value,
                recv(other) -> value => assert_eq!(value, Ok(1)),
            }
            assert_eq!(watcher.join().unwrap().0, None);
        });
}
