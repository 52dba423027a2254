//! A run that never comes to its next choice is reported, and ends the process.

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn_sim::{Strategy, campaign};

/// Runs an ignored test of this program in a child; asserts that it was given up, and returns what
/// it has printed. `repeat` is how the run is repeated.
fn given_up(test: &str, repeat: &str) -> String {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--ignored"]);
    child.env_remove("PIRN_SIM_SEED");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(124), "{said}");
    let expected = format!("has not come to its next choice for 1s ({repeat}");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("stuck.rs"), "{said}");
    said
}

// Proves: U6-stuck.
#[test]
fn a_lock_of_std_that_another_fiber_holds_is_reported() {
    let said = given_up("stuck::takes_a_lock_of_std_if_asked", "PIRN_SIM_TRACE='");
    assert!(said.contains("takes a lock of `std`"), "{said}");
}

// Proves: U6-stuck.
#[test]
fn a_loop_without_an_operation_is_reported() {
    given_up("stuck::loops_if_asked", "PIRN_SIM_TRACE='");
}

// Proves: U6-stuck.
#[test]
fn a_run_of_a_seed_is_reported_with_it() {
    given_up(
        "stuck::loops_in_a_later_run_if_asked",
        "PIRN_SIM_SEED=8 PIRN_SIM_RUNS=1)",
    );
}

// Proves: U6-stuck.
#[test]
fn a_run_of_a_search_is_reported_with_its_first_seed() {
    let repeat = "PIRN_SIM_SEED=7 with all runs of the campaign)";
    given_up("stuck::loops_in_a_search_if_asked", repeat);
}

// Proves: U6-stuck.
#[test]
fn a_failure_is_not_lost_if_its_repetition_has_no_end() {
    let said = given_up("stuck::fails_and_then_loops_if_asked", "PIRN_SIM_TRACE='");
    let (_, found) = said
        .split_once("the campaign has found a failure")
        .expect(&said);
    assert!(
        found.contains("too few (PIRN_SIM_SEED=7 PIRN_SIM_RUNS=1)"),
        "{said}"
    );
}

// Proves: U6-stuck.
#[test]
fn a_slow_run_is_not_given_up() {
    let campaign = campaign().runs(3).stuck_limit(Duration::from_millis(100));
    campaign.check(|| {
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(20));
            pirn_sim::point();
        }
    });
}

#[test]
#[ignore = "does not end; another test asks for it"]
fn takes_a_lock_of_std_if_asked() {
    campaign().stuck_limit(Duration::from_secs(1)).check(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let fiber = pirn::spawn(move || {
            let held = other.lock().unwrap();
            pirn::yield_now();
            drop(held);
        });
        pirn::yield_now();
        *lock.lock().unwrap() += 1;
        fiber.join().unwrap();
    });
}

#[test]
#[ignore = "does not end; another test asks for it"]
fn loops_if_asked() {
    campaign()
        .stuck_limit(Duration::from_secs(1))
        .check(loop_forever);
}

#[test]
#[ignore = "does not end; another test asks for it"]
fn loops_in_a_later_run_if_asked() {
    // The canonical schedule, and a run with the seed 7.
    let campaign = campaign().seed(7).stuck_limit(Duration::from_secs(1));
    campaign.check(after(2, loop_forever));
}

#[test]
#[ignore = "does not end; another test asks for it"]
fn loops_in_a_search_if_asked() {
    let search = Strategy::Exhaustive { preemptions: 1 };
    let campaign = campaign().seed(7).strategy(search);
    campaign
        .stuck_limit(Duration::from_secs(1))
        .check(after(1, loop_forever));
}

#[test]
#[ignore = "does not end; another test asks for it"]
fn fails_and_then_loops_if_asked() {
    let campaign = campaign().seed(7).stuck_limit(Duration::from_secs(1));
    let calls = AtomicU32::new(0);
    campaign.check(move || match calls.fetch_add(1, Ordering::Relaxed) {
        0 => (),
        1 => panic!("too few"),
        _ => loop_forever(),
    });
}

/// Returns a body that makes `runs` runs with a few choices, and calls `last` in the next one.
fn after(runs: u32, last: fn()) -> impl Fn() + Send + Sync {
    let calls = AtomicU32::new(0);
    move || {
        if calls.fetch_add(1, Ordering::Relaxed) == runs {
            last();
        }
        let fiber = pirn::spawn(pirn::yield_now);
        pirn::yield_now();
        fiber.join().unwrap();
    }
}

fn loop_forever() {
    let stop = AtomicBool::new(false);
    while !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}
