//! `cargo xtask stress`: the stress tests ("storms"), repeatedly.
//!
//! Storms are tests in `crates/pirn/tests/stress`, ignored by default because each does a
//! million operations and more. They run optimised, one after the other, in rounds: a given
//! number (`--repeat 50`), or for a given time (`--minutes 5`), one whole round at least.
//! With several jobs, those that need the whole machine (`alone_`) still run by themselves. The
//! long tests of `pgz`, ignored for the same reason, run in the first round only: they depend on
//! size, not on chance.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::harness::{Build, Case, Run, cases, run};
use crate::jobs;
use crate::options::Options;
use crate::tally::{Tally, seconds};

/// Runs all storms, or those with one of the words in their names.
///
/// # Errors
/// When an option cannot be used, they do not build, or nothing ran.
pub(crate) fn stress(options: &Options) -> Result<Tally, String> {
    let budget = budget(options)?;
    let mut storms = cases(&jobs::build("stress")?)?;
    let mut first = cases(&Build::new("--package pgz --release --test it"))?;
    first.retain(|case| case.ignored.is_some());
    for cases in [&mut storms, &mut first] {
        cases.retain(|case| options.picks(&case.name));
    }
    let repeat: Option<usize> = options.value("repeat")?;
    let one_at_a_time = Run {
        jobs: 1,
        ..Run::default()
    };
    let how = one_at_a_time.with(options)?;
    let is_alone = |it: &Case| it.name.contains("alone_");
    let (alone, storms): (Vec<_>, Vec<_>) = storms.into_iter().partition(is_alone);
    // The time is up between two batches; with several jobs, a round as a whole keeps them all busy.
    let batch_len = repeat.map_or(how.jobs, |_| storms.len()).max(1);
    let start = Instant::now();
    let mut endings: BTreeMap<String, Vec<(bool, Duration)>> = BTreeMap::new();
    let mut tally = Tally::default();
    'rounds: for round in 0..repeat.unwrap_or(usize::MAX) {
        let together = first.chunks(batch_len).chain(storms.chunks(batch_len));
        for batch in together.chain(alone.chunks(1)) {
            if repeat.is_none() && round > 0 && start.elapsed() > budget {
                break 'rounds;
            }
            let (ran, ended) = run(batch, how)?;
            tally += ran;
            for ending in ended {
                let of_storm = endings.entry(ending.id).or_default();
                of_storm.push((ending.passed, ending.took));
            }
        }
        first.clear();
        if storms.is_empty() && alone.is_empty() {
            break;
        }
    }
    for (storm, endings) in &endings {
        let passed = endings.iter().filter(|(passed, _)| *passed).count();
        let longest = endings.iter().map(|(_, took)| *took).max();
        let longest = seconds(longest.unwrap_or_default());
        println!("    {passed}/{} {storm}, {longest} at most", endings.len());
    }
    tally.nonzero("stress")
}

/// Returns the time for rounds after the first one.
fn budget(options: &Options) -> Result<Duration, String> {
    let minutes: f64 = options.value("minutes")?.unwrap_or(1.0);
    Duration::try_from_secs_f64(60.0 * minutes).map_err(|e| format!("--minutes: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_none_is_an_error() {
        let budget = |minutes: &str| {
            let args = ["--minutes", minutes].map(str::to_owned);
            budget(&Options::parse(&args, "stress [--minutes N]").unwrap())
        };
        assert_eq!(budget("0.5"), Ok(Duration::from_secs(30)));
        for minutes in ["-1", "inf", "nan", "x"] {
            assert!(budget(minutes).is_err(), "{minutes}");
        }
    }
}
