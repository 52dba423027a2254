//! A run that aborts the process is reported before.

use std::env;
use std::process::Command;

use pirn_sim::campaign;

/// A destructor that panics while its fiber unwinds.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the destructor");
    }
}

// Proves: U5.
#[test]
fn a_panic_amid_a_panic_is_reported() {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "aborts::panics_twice_if_asked", "--ignored"]);
    for variable in ["SEED", "RUNS", "TIME", "TRACE"] {
        child.env_remove(format!("PIRN_SIM_{variable}"));
    }
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), None, "ended by a signal: {said}");
    for part in [
        "pirn-sim: 'aborts::panics_twice_if_asked' (",
        "a run ends the process: ",
        "(PIRN_SIM_SEED=8 PIRN_SIM_RUNS=1)",
        ": in the destructor",
        ": of the body",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

#[test]
#[ignore = "aborts; another test asks for it"]
fn panics_twice_if_asked() {
    // In the second run.
    campaign().seed(7).check(|| {
        if pirn_sim::seed() == 8 {
            let _bomb = Bomb;
            panic!("of the body");
        }
    });
}
