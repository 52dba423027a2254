//! Known bugs are found within their number of runs, and their fixed versions pass.
//!
//! Owns: how a program is searched. Does not own: the programs, which `cargo xtask bench sim` runs
//! too.

use std::env;
use std::time::Duration;

use pirn_sim::Campaign;

mod prelude;
mod programs;

/// Checks the programs of a file: nine of ten campaigns find each bug, and the fixed program
/// passes.
///
/// # Panics
/// If not.
fn check(group: &str) {
    let fixed = env::var("PIRN_KNOWN_RUNS").map_or(2_000, |runs| {
        runs.parse().expect("PIRN_KNOWN_RUNS is a number")
    });
    for program in programs::ALL.iter().filter(|it| it.name.starts_with(group)) {
        let body = program.body;
        let find = |at: u64| {
            campaign(program.most)
                .seed(at << 32)
                .find(move || body(false))
        };
        let found = (0..10).filter_map(find);
        let mut runs: Vec<_> = found.map(|failure| failure.run()).collect();
        runs.sort_unstable();
        println!("{}: found in run {runs:?}", program.name);
        assert!(runs.len() >= 9, "{}: found by {}", program.name, runs.len());
        let failure = campaign(fixed).seed(0).find(move || body(true));
        assert!(failure.is_none(), "{}: {}", program.name, failure.unwrap());
    }
}

/// A campaign of `runs` runs, however long they take.
fn campaign(runs: u64) -> Campaign {
    let campaign = pirn_sim::campaign().choices(CHOICES);
    campaign.runs(runs).for_real(Duration::MAX)
}

/// The choices of a run. Arbitrary: more than a program has, so that a loop without an end is
/// reported within seconds.
const CHOICES: u64 = 20_000;

// Proves: U3-known.
#[test]
fn planted_bugs() {
    check("planted::");
}

// Proves: U3-known.
#[test]
fn bugs_of_waits() {
    check("wakes::");
}

// Proves: U3-known.
#[test]
fn bugs_of_channels() {
    check("channels::");
}

// Proves: U3-known.
#[test]
fn kernels_of_programs_in_go() {
    check("kernels::");
}
