//! Shrinking: few deviations with which a run still fails in the same way.
//!
//! 1. Tries each single deviation from the canonical schedule: most bugs need one.
//! 2. Delta debugging: leaves out halves, then quarters and so on, then single deviations, as long
//!    as the run still fails. The result is minimal in that each deviation is needed.
//!
//! A budget of runs and of time ends either early.
//!
//! Source: Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
//! on Software Engineering 28 (2), 2002.

use std::time::{Duration, Instant};

use crate::trace::{Deviation, Trace};

/// Returns a trace for which `fails` returns the recorded trace of a run that failed. Starts with
/// `trace`, which fails. `possible` are the deviations from the canonical schedule.
pub(crate) fn shrink(
    trace: Trace,
    possible: &[Deviation],
    mut fails: impl FnMut(&Trace) -> Option<Trace>,
) -> Trace {
    let mut budget = Budget::new();
    if trace.deviations.len() > 1 {
        for single in possible.iter().take(RUNS as usize / 2) {
            let shorter = Trace {
                deviations: vec![*single],
                ..trace.clone()
            };
            let found = budget.take().then(|| fails(&shorter)).flatten();
            if let Some(found) = found.filter(|it| it.deviations.len() == 1) {
                return found;
            }
        }
    }
    let mut best = trace;
    let mut size = best.deviations.len();
    while size > 0 {
        let mut from = 0;
        while from < best.deviations.len() {
            let to = (from + size).min(best.deviations.len());
            let mut shorter = best.clone();
            shorter.deviations.drain(from..to);
            // A deviation that is skipped makes the recorded trace shorter still.
            let found = budget.take().then(|| fails(&shorter)).flatten();
            match found.filter(|it| it.deviations.len() < best.deviations.len()) {
                Some(shorter) => best = shorter,
                None => from = to,
            }
        }
        size = match size {
            1 => 0,
            size => size.div_ceil(2).min(best.deviations.len().max(1)),
        };
    }
    best
}

/// Limits on shrinking. Arbitrary.
const RUNS: u32 = 2_000;
const TIME: Duration = Duration::from_secs(2);

/// The runs that are left.
struct Budget {
    left: u32,
    begun: Instant,
}

impl Budget {
    fn new() -> Budget {
        Budget {
            left: RUNS,
            begun: Instant::now(),
        }
    }

    /// Takes a run; returns false if there is none left, or no time.
    fn take(&mut self) -> bool {
        let is_left = self.left > 0 && self.begun.elapsed() < TIME;
        self.left = self.left.saturating_sub(1);
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Deviation;

    fn trace(runs: impl IntoIterator<Item = u32>) -> Trace {
        let deviation = |runs| Deviation {
            after: 0,
            nth: runs,
            runs,
        };
        Trace {
            seed: 0,
            deviations: runs.into_iter().map(deviation).collect(),
        }
    }

    #[test]
    fn the_needed_deviations_are_left() {
        let needed = [3, 17, 40];
        let mut tried = 0;
        let fails = |tried_trace: &Trace| {
            tried += 1;
            let has = |it| tried_trace.deviations.iter().any(|d| d.runs == it);
            needed.into_iter().all(has).then(|| tried_trace.clone())
        };
        assert_eq!(shrink(trace(0..64), &[], fails), trace(needed));
        assert!(tried < 150, "{tried} tries");
    }

    #[test]
    fn nothing_is_left_of_what_needs_nothing() {
        let shrunk = shrink(trace(0..64), &[], |it| Some(it.clone()));
        assert!(shrunk.is_canonical());
    }

    #[test]
    fn a_single_deviation_is_preferred() {
        let possible = trace(0..64).deviations;
        let pair_or_single = |tried: &Trace| {
            let has = |it| tried.deviations.iter().any(|d| d.runs == it);
            (has(3) && has(4) || has(50)).then(|| tried.clone())
        };
        let shrunk = shrink(trace(0..40), &possible, pair_or_single);
        assert_eq!(shrunk, trace([50]));
    }
}
