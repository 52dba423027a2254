//! A run that never comes to its next choice is reported, and ends the process.

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn_sim::campaign;

/// Runs an ignored test of this program in a child; asserts that it was given up, and returns what
/// it has printed.
fn given_up(test: &str) -> String {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--ignored"]);
    child.env_remove("PIRN_SIM_SEED");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(124), "{said}");
    assert!(
        said.contains("has not come to its next choice for 1s (PIRN_SIM_SEED="),
        "{said}"
    );
    assert!(said.contains("stuck.rs"), "{said}");
    said
}

// Proves: U6-stuck.
#[test]
fn a_lock_of_std_that_another_fiber_holds_is_reported() {
    let said = given_up("stuck::takes_a_lock_of_std_if_asked");
    assert!(said.contains("takes a lock of `std`"), "{said}");
}

// Proves: U6-stuck.
#[test]
fn a_loop_without_an_operation_is_reported() {
    given_up("stuck::loops_if_asked");
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
    campaign().stuck_limit(Duration::from_secs(1)).check(|| {
        let stop = AtomicBool::new(false);
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
}
