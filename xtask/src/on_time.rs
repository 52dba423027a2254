//! Tests that bound times: a failed one is run again, and judged only if the machine is
//! undisturbed.
//!
//! A test that a signal has ended, or the limit of its time, has failed. Any other failed test gets
//! one more try. If it fails again, and the machine was undisturbed meanwhile
//! ([`disturbance`]), it has failed. If the machine was disturbed, that try does not count, and
//! another one follows, [`TRIES`] in all. A test without an undisturbed try counts as skipped: it
//! is named at the end with the disturbance, and has proven nothing. Where `PIRN_TOOLS` is
//! `required`, all but [`DISTURBED`] such tests of a run fail.

use std::slice;

use crate::harness::{Case, Run, run};
use crate::tally::Tally;
use crate::{disturbance, outcomes};

/// Maximum number of tries after the first one.
const TRIES: usize = 4;

/// Maximum number of tests of a run that a disturbed machine may skip where `PIRN_TOOLS` is
/// `required`: a tenth of those that bound times. Usually there are none to three.
const DISTURBED: usize = 10;

/// Runs them. Failed ones are run once more or, on a disturbed machine, a few times.
///
/// # Errors
/// When a process cannot be started or watched.
pub(crate) fn in_time(timed: &[Case], how: Run) -> Result<Tally, String> {
    let (mut tally, endings) = run(timed, how)?;
    tally.failed = endings.iter().filter(|ending| ending.died).count();
    for (case, ending) in timed.iter().zip(endings) {
        if ending.has_failed() && !ending.died {
            tally += once_more(case, how)?;
        }
    }
    Ok(tally)
}

fn once_more(case: &Case, how: Run) -> Result<Tally, String> {
    let id = case.id();
    let mut seen = None;
    for _ in 0..TRIES {
        println!("    another try: {id}");
        let (outcome, disturbance) =
            disturbance::around(|| run(slice::from_ref(case), how));
        let (tally, endings) = outcome?;
        if tally.failed == 0 {
            return Ok(Tally {
                retried: tally.passed,
                ..tally
            });
        }
        let died = endings.iter().any(|ending| ending.died);
        if died || !disturbance.matters() {
            return Ok(tally);
        }
        println!("    the machine was disturbed: {disturbance}");
        seen = Some(disturbance);
    }
    let seen = seen.map(|seen| seen.to_string()).unwrap_or_default();
    let missing = format!("an undisturbed machine ({seen})");
    Ok(outcomes::skip_beside(DISTURBED, &id, &missing))
}
