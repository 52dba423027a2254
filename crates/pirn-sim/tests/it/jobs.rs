//! Campaigns on several threads.

use std::collections::HashSet;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pirn_sim::{Failure, Verdict, campaign};

fn lost_update() {
    let value = Arc::new(pirn::sync::Mutex::new(0));
    let add = || {
        let value = Arc::clone(&value);
        pirn::spawn(move || {
            let before = *value.lock();
            *value.lock() = before + 1;
        })
    };
    let fibers = [add(), add(), add()];
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert_eq!(*value.lock(), 3);
}

// Proves: U14.
#[test]
fn the_first_failure_is_that_of_one_thread() {
    let found = |jobs, seed| {
        let failure = campaign().jobs(jobs).seed(seed).find(lost_update);
        failure.map(|it: Failure| (it.run(), it.seed(), it.trace().clone()))
    };
    for seed in 0..20 {
        let seed = seed << 32;
        let alone = found(1, seed);
        assert!(alone.is_some());
        assert_eq!(found(4, seed), alone);
    }
}

// Proves: U14.
#[test]
fn each_seed_runs_once_on_some_thread() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let threads = Arc::new(Mutex::new(HashSet::new()));
    let (seeds, places) = (Arc::clone(&seen), Arc::clone(&threads));
    let outcome = campaign().jobs(3).seed(1_000).runs(60).explore(move || {
        seeds.lock().unwrap().push(pirn_sim::seed());
        places.lock().unwrap().insert(thread::current().id());
        // So that one thread cannot make all runs before the others begin.
        thread::sleep(Duration::from_millis(1));
    });
    assert_eq!(outcome.runs, 60);
    let mut seeds = seen.lock().unwrap().clone();
    seeds.sort_unstable();
    // The canonical schedule is the first one.
    let all: Vec<_> = [0].into_iter().chain(1_000..1_060).collect();
    assert_eq!(seeds, all);
    // One for the canonical schedule, three for the seeds.
    assert_eq!(threads.lock().unwrap().len(), 4);
}

// Proves: U14.
#[test]
fn properties_are_met_on_any_thread() {
    let count = AtomicU64::new(0);
    campaign().jobs(3).runs(60).check(move || {
        thread::sleep(Duration::from_millis(1));
        // ORDERING: Relaxed: any one of the runs.
        let nth = count.fetch_add(1, Ordering::Relaxed);
        pirn::sim::sometimes!(nth == 50, "the fiftieth");
    });
    let never = campaign().jobs(3).runs(60).find(|| {
        pirn::sim::sometimes!(pirn_sim::seed() == u64::MAX, "the last seed");
    });
    let never = never.unwrap();
    assert!(matches!(never.verdict(), Verdict::NeverMet(names) if names.len() == 1));
}

/// The destructor of a panic's payload panics in turn: no run can go on.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the destructor of the payload");
    }
}

// Proves: U14.
#[test]
fn a_panic_of_a_job_ends_the_others_and_keeps_its_text() {
    let count = Arc::new(AtomicU64::new(0));
    let runs = Arc::clone(&count);
    let campaign = campaign().jobs(2).seed(3).runs(20_000);
    let ended = panic::catch_unwind(move || {
        campaign.check(move || {
            // ORDERING: Relaxed: read after all runs.
            runs.fetch_add(1, Ordering::Relaxed);
            if pirn_sim::seed() == 5 {
                panic::panic_any(Bomb);
            }
        });
    });
    let text = ended.unwrap_err();
    let text = text.downcast_ref::<&str>();
    assert_eq!(text, Some(&"the destructor of the payload"));
    // ORDERING: Relaxed: all threads have ended.
    let count = count.load(Ordering::Relaxed);
    assert!(count < 10_000, "{count} runs");
}
