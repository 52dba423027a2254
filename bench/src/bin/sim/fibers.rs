//! The programs on fibers, in the runs of pirn-sim.

use std::time::Duration;

use pirn_sim::{Campaign, Strategy, Trace};

#[path = "../../../../crates/pirn-sim/tests/known/prelude.rs"]
mod prelude;
#[path = "../../../../crates/pirn-sim/tests/known/programs/mod.rs"]
mod programs;

use programs::Program;

pub(crate) use programs::ALL;

/// # Panics
/// If there is no such program.
pub(crate) fn program(name: &str) -> &'static Program {
    let found = ALL.iter().find(|program| program.name == name);
    found.expect("the program is in the list")
}

/// Returns in which run the program fails, of so many times the runs within which it is to fail. A
/// campaign begins with the canonical schedule.
pub(crate) fn first_failure(
    strategy: Strategy,
    name: &str,
    seed: u64,
    times: u64,
) -> Option<u64> {
    let Program { body, most, .. } = *program(name);
    let canonical = campaign().replay(Trace::default());
    if canonical.find(move || body(false)).is_some() {
        return Some(1);
    }
    let others = campaign()
        .strategy(strategy)
        .seed(seed)
        .runs(most * times - 1);
    let failure = others.find(move || body(false))?;
    Some(1 + failure.run())
}

/// Makes runs of the fixed program.
///
/// # Panics
/// If it fails.
pub(crate) fn pass(strategy: Strategy, name: &str, seed: u64, runs: u64) {
    let body = program(name).body;
    let campaign = campaign().strategy(strategy).seed(seed).runs(runs);
    campaign.check(move || body(true));
}

/// As the tests of the programs have it.
fn campaign() -> Campaign {
    let campaign = pirn_sim::campaign().choices(20_000);
    campaign.for_real(Duration::MAX)
}
