//! Shrinking: few deviations with which a run still fails in the same way.
//!
//! 1. Replaces the seed by 0, if that suffices: it draws the time that choices take.
//! 2. Tries the canonical schedule, then each single deviation from it: most bugs need one.
//! 3. Delta debugging: leaves out halves, then quarters and so on, then single deviations, as long
//!    as the run still fails. The result is minimal in that each deviation is needed.
//! 4. From three deviations on: tries one in place of two. A trace of which each deviation is
//!    needed can be longer than another trace of the same failure.
//! 5. Tries all pairs of deviations, then all triples and so on, until the trace is at most 1.5
//!    times as long as any other could be.
//!
//! A budget of runs and of time ends each of them early.
//!
//! Source: Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, IEEE Transactions
//! on Software Engineering 28 (2), 2002.

use std::time::{Duration, Instant};

use crate::trace::{Deviation, Trace};

/// The outcome of a run of a trace.
pub(crate) struct Tried {
    /// It fails in the same way.
    pub(crate) fails: bool,
    /// What has run: without the deviations that were skipped.
    pub(crate) trace: Trace,
    /// The deviations that were possible, in order, if that was asked for.
    pub(crate) possible: Vec<Deviation>,
}

/// A trace that has been shrunk.
pub(crate) struct Shrunk {
    pub(crate) trace: Trace,
    /// Each deviation is needed: without it the run does not fail in this way.
    pub(crate) is_minimal: bool,
    /// With the seed 0 it does not fail in this way.
    pub(crate) needs_seed: bool,
}

/// Shrinks `trace`, which fails. `run` makes the run of a trace, or returns None to end the search;
/// with true its result has the possible deviations.
pub(crate) fn shrink(
    trace: Trace,
    run: impl FnMut(&Trace, bool) -> Option<Tried>,
) -> Shrunk {
    let mut search = Search {
        best: trace,
        run,
        left: RUNS,
        begun: Instant::now(),
    };
    search.drop_seed();
    let mut is_minimal = search.search();
    let had_seed = search.best.seed != 0;
    let needs_seed = search.drop_seed();
    if had_seed && !needs_seed {
        // Fewer deviations may do with the other seed.
        is_minimal = search.search();
    }
    Shrunk {
        trace: search.best,
        is_minimal,
        needs_seed,
    }
}

/// Limits on shrinking. Arbitrary.
pub(crate) const RUNS: u32 = 10_000;
const TIME: Duration = Duration::from_secs(2);

/// The limit on single deviations: delta debugging needs runs too. Arbitrary.
const SINGLES: usize = 1_000;

struct Search<F> {
    /// The shortest trace that fails.
    best: Trace,
    run: F,
    /// The runs that are left.
    left: u32,
    begun: Instant,
}

impl<F: FnMut(&Trace, bool) -> Option<Tried>> Search<F> {
    /// Replaces the seed by 0 if that fails too. Returns true if not.
    fn drop_seed(&mut self) -> bool {
        if self.best.seed == 0 {
            return false;
        }
        let trace = Trace {
            seed: 0,
            ..self.best.clone()
        };
        let tried = self.run(&trace, false);
        match tried {
            Some(tried) if tried.fails => {
                self.best = tried.trace;
                false
            }
            tried => tried.is_some(),
        }
    }

    /// Returns true if the best trace is minimal, false if the budget has ended before.
    fn search(&mut self) -> bool {
        if self.best.deviations.is_empty() {
            return true;
        }
        let Some(canonical) = self.run(&self.with(Vec::new()), true) else {
            return false;
        };
        if canonical.fails {
            self.best = canonical.trace;
            return true;
        }
        if self.best.deviations.len() == 1 {
            return true;
        }
        let singles = &canonical.possible[..canonical.possible.len().min(SINGLES)];
        for single in singles {
            if self.improves(vec![*single]) {
                return true;
            }
        }
        let mut is_minimal = self.leave_out();
        while self.best.deviations.len() > 2 && self.exchange() {
            is_minimal = self.leave_out();
        }
        let mut depth = 2;
        while 2 * self.best.deviations.len() > 3 * depth && self.is_funded() {
            if self.extend(Vec::new(), depth) {
                // No shorter one fails.
                return true;
            }
            depth += 1;
        }
        is_minimal
    }

    /// Delta debugging. Returns true if each deviation is needed.
    fn leave_out(&mut self) -> bool {
        let mut size = self.best.deviations.len();
        while size > 0 {
            let before = self.best.deviations.len();
            let mut from = 0;
            while from < self.best.deviations.len() {
                let to = (from + size).min(self.best.deviations.len());
                let mut shorter = self.best.deviations.clone();
                shorter.drain(from..to);
                if !self.improves(shorter) {
                    from = to;
                }
            }
            let now = self.best.deviations.len();
            size = match size {
                // Of the others, some may not be needed any more.
                1 if now < before => 1,
                1 => 0,
                size => size.div_ceil(2).min(now.max(1)),
            };
        }
        self.is_funded()
    }

    /// Replaces two deviations by one; returns true if that fails.
    fn exchange(&mut self) -> bool {
        let all = self.best.deviations.clone();
        for second in 1..all.len() {
            for first in 0..second {
                let mut rest = all.clone();
                rest.remove(second);
                rest.remove(first);
                let Some(tried) = self.run(&self.with(rest.clone()), true) else {
                    return false;
                };
                for other in tried.possible {
                    let mut deviations = rest.clone();
                    deviations.push(other);
                    if self.improves(deviations) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Tries all traces that begin with `start` and have `depth` deviations; returns true if one
    /// fails.
    fn extend(&mut self, start: Vec<Deviation>, depth: usize) -> bool {
        let Some(tried) = self.run(&self.with(start.clone()), true) else {
            return false;
        };
        // The deviations are in order.
        let last = start.last().map(|it| it.name);
        let before = tried.possible.iter().rposition(|it| Some(it.name) == last);
        let later = before.map_or(0, |at| at + 1);
        for next in &tried.possible[later..] {
            let mut longer = start.clone();
            longer.push(*next);
            let fails = match longer.len() == depth {
                true => self.improves(longer),
                false => self.extend(longer, depth),
            };
            if fails {
                return true;
            }
        }
        false
    }

    fn with(&self, deviations: Vec<Deviation>) -> Trace {
        Trace {
            deviations,
            ..self.best
        }
    }

    /// Makes a run with these deviations. If it fails, and is shorter than the best one, it becomes
    /// that. Returns true if so.
    fn improves(&mut self, deviations: Vec<Deviation>) -> bool {
        let length = self.best.deviations.len();
        let trace = self.with(deviations);
        // A deviation that is skipped makes the trace of the run shorter still.
        let tried = self.run(&trace, false);
        match tried.filter(|it| it.fails && it.trace.deviations.len() < length) {
            Some(shorter) => {
                self.best = shorter.trace;
                true
            }
            None => false,
        }
    }

    /// Makes a run, if the budget has one left, and the caller does not end it.
    fn run(&mut self, trace: &Trace, possible: bool) -> Option<Tried> {
        if !self.is_funded() {
            return None;
        }
        self.left -= 1;
        let tried = (self.run)(trace, possible);
        if tried.is_none() {
            self.left = 0;
        }
        tried
    }

    fn is_funded(&self) -> bool {
        self.left > 0 && self.begun.elapsed() < TIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Name;

    fn trace(runs: impl IntoIterator<Item = u32>) -> Trace {
        Trace {
            seed: 0,
            deviations: runs.into_iter().map(deviation).collect(),
        }
    }

    fn deviation(runs: u32) -> Deviation {
        let name = Name {
            nth: runs,
            ..Name::default()
        };
        Deviation { name, taken: runs }
    }

    /// Runs in which `most` deviations are possible, and that fail if `fails` returns true.
    fn among(
        most: u32,
        mut fails: impl FnMut(&dyn Fn(u32) -> bool) -> bool,
    ) -> impl FnMut(&Trace, bool) -> Option<Tried> {
        move |trace, _| {
            Some(Tried {
                fails: fails(&|runs| trace.deviations.contains(&deviation(runs))),
                trace: trace.clone(),
                possible: (0..most).map(deviation).collect(),
            })
        }
    }

    #[test]
    fn the_needed_deviations_are_left() {
        let mut tried = 0;
        let run = among(0, |has| {
            tried += 1;
            [3, 17, 40].into_iter().all(has)
        });
        let shrunk = shrink(trace(0..64), run);
        assert_eq!(shrunk.trace, trace([3, 17, 40]));
        assert!(shrunk.is_minimal);
        assert!(tried < 150, "{tried} tries");
    }

    #[test]
    fn nothing_is_left_of_what_needs_nothing() {
        let shrunk = shrink(trace(0..64), among(0, |_| true));
        assert!(shrunk.trace.is_canonical() && shrunk.is_minimal);
    }

    #[test]
    fn a_single_deviation_is_preferred() {
        let shrunk = shrink(trace(0..40), among(64, |has| has(3) && has(4) || has(50)));
        assert_eq!(shrunk.trace, trace([50]));
    }

    #[test]
    fn another_pair_is_found() {
        let run = among(64, |has| (0..6).all(has) || has(20) && has(50));
        assert_eq!(shrink(trace(0..6), run).trace, trace([20, 50]));
    }

    #[test]
    fn two_are_exchanged_for_one() {
        let run = among(64, |has| has(0) && has(1) && (has(2) && has(3) || has(50)));
        assert_eq!(shrink(trace(0..4), run).trace, trace([0, 1, 50]));
    }

    #[test]
    fn the_seed_becomes_zero_if_it_does_not_matter() {
        let seeded = |seed| Trace { seed, ..trace([3]) };
        let shrunk = shrink(seeded(7), among(0, |has| has(3)));
        assert_eq!(shrunk.trace, seeded(0));
        let mut run = among(0, |has| has(3));
        let needs = |trace: &Trace, possible| {
            let tried = run(trace, possible)?;
            Some(Tried {
                fails: tried.fails && trace.seed == 7,
                ..tried
            })
        };
        let shrunk = shrink(seeded(7), needs);
        assert!(shrunk.trace == seeded(7) && shrunk.needs_seed);
    }

    #[test]
    fn less_may_do_with_the_seed_zero() {
        let run = |trace: &Trace, _| {
            let has = |runs| trace.deviations.contains(&deviation(runs));
            Some(Tried {
                fails: match trace.seed {
                    0 => has(3) && !has(9),
                    _ => has(3) && has(4),
                },
                trace: trace.clone(),
                possible: Vec::new(),
            })
        };
        let seeded = Trace {
            seed: 7,
            ..trace([3, 4, 9])
        };
        let shrunk = shrink(seeded, run);
        assert_eq!(shrunk.trace, trace([3]));
        assert!(shrunk.is_minimal && !shrunk.needs_seed);
    }

    #[test]
    fn what_is_needed_no_more_is_left_out() {
        // 0 is needed as long as 2 is there.
        let run = among(0, |has| has(1) && has(3) && (has(0) || !has(2)));
        let shrunk = shrink(trace(0..4), run);
        assert_eq!(shrunk.trace, trace([1, 3]));
        assert!(shrunk.is_minimal);
    }

    #[test]
    fn the_caller_ends_it() {
        let mut made = 0;
        let mut run = among(64, |has| (0..8).all(has));
        let shrunk = shrink(trace(0..40), |trace, possible| {
            made += 1;
            (made <= 20).then(|| run(trace, possible))?
        });
        assert!(!shrunk.is_minimal);
        assert_eq!(made, 21);
    }

    #[test]
    fn the_budget_ends_it() {
        let run = among(1_000, |has| (0..8).all(has));
        let shrunk = shrink(trace(0..8), run);
        assert_eq!(shrunk.trace, trace(0..8));
    }
}
