//! Schedules that are guided by what earlier ones have covered.
//!
//! A run covers *pairs*: an operation on an object, and the next operation on it, by another fiber.
//! A pair is named by both operations, by the places where both fibers were spawned, and by the
//! number of the object in the order of first use, since addresses differ between runs. The
//! deviations of a run with a pair that no earlier one has covered enter the corpus. Half of the
//! runs change one of them: without a deviation, with another one, with one that is moved, or with
//! the end of another run.
//!
//! So a run depends on those before it, and a seed alone does not repeat it: its trace does.
//!
//! Source: Wolff, Shi, Duck, Mathur, Roychoudhury: Greybox Fuzzing for Concurrency Testing, ASPLOS
//! 2024, for pairs as coverage.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::mem;
use std::panic::Location;
use std::rc::Rc;

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose, Operation, Pick, Property};

use super::kind::Strategy;
use crate::trace::{Deviation, Name, Of, Replay, Trace};

/// The corpus of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    corpus: Vec<Sample>,
    /// The pairs that runs have covered.
    covered: HashSet<u64>,
    /// Of the present run.
    coverage: Rc<RefCell<Coverage>>,
}

/// A run that has covered a new pair.
#[derive(Debug, Clone)]
struct Sample {
    deviations: Vec<Deviation>,
    /// The number of choices after each fiber.
    counts: Vec<u32>,
}

/// What a run has covered so far.
#[derive(Debug, Default)]
struct Coverage {
    pairs: Vec<u64>,
    /// By address: the number of the object, and the last operation on it.
    objects: HashMap<usize, (usize, Option<Last>)>,
    counts: Vec<u32>,
}

/// An operation that has run.
#[derive(Debug, Clone, Copy)]
struct Last {
    fiber: u32,
    operation: Operation,
    site: &'static Location<'static>,
}

impl Guide {
    /// Returns the strategy of the next run.
    pub(crate) fn make(&self, seed: u64, expected: u64) -> Box<dyn Choose> {
        let mut rng = Rng::with_seed(seed);
        let strategy: Box<dyn Choose> = if self.corpus.is_empty() || rng.bool() {
            Strategy::Portfolio.make(rng.u64(..), expected)
        } else {
            let deviations = self.mutant(&mut rng);
            Box::new(Replay::new(&Trace { seed, deviations }))
        };
        let coverage = Rc::clone(&self.coverage);
        Box::new(Watched { strategy, coverage })
    }

    /// Learns from the run of the strategy that was made last; `deviations` are its own.
    pub(crate) fn learn(&mut self, deviations: &[Deviation]) {
        let coverage = mem::take(&mut *self.coverage.borrow_mut());
        let mut is_new = false;
        for pair in coverage.pairs {
            is_new |= self.covered.insert(pair);
        }
        if is_new && deviations.len() <= LONGEST {
            self.corpus.push(Sample {
                deviations: deviations.to_vec(),
                counts: coverage.counts,
            });
        }
    }

    /// Returns the deviations of one sample with one to three changes.
    ///
    /// # Panics
    /// If the corpus is empty.
    fn mutant(&self, rng: &mut Rng) -> Vec<Deviation> {
        let mut sample = self.corpus[rng.usize(..self.corpus.len())].clone();
        for _ in 0..rng.u32(1..=3) {
            let other = &self.corpus[rng.usize(..self.corpus.len())];
            change(&mut sample, other, rng);
        }
        sample.deviations
    }
}

/// Makes one change.
fn change(sample: &mut Sample, other: &Sample, rng: &mut Rng) {
    let deviations = &mut sample.deviations;
    let any = match deviations.len() {
        0 => None,
        len => Some(rng.usize(..len)),
    };
    match (rng.u32(..4), any) {
        (0, Some(any)) => drop(deviations.remove(any)),
        (1, Some(any)) => {
            let nth = &mut deviations[any].name.nth;
            let by = rng.u32(1..=FARTHEST);
            *nth = match rng.bool() {
                true => nth.saturating_add(by),
                false => nth.saturating_sub(by).max(1),
            };
        }
        (2, Some(any)) => {
            deviations.truncate(any);
            let from = rng.usize(..=other.deviations.len());
            deviations.extend(&other.deviations[from..]);
        }
        _ => {
            let fibers = sample.counts.len() as u32;
            let after = rng.u32(..fibers.max(1));
            let count = sample.counts.get(after as usize).copied();
            let name = Name {
                of: Of::Fiber,
                after,
                nth: rng.u32(1..=count.unwrap_or(0).max(1)),
            };
            let runs = rng.u32(..fibers.max(1));
            deviations.push(Deviation { name, taken: runs });
        }
    }
}

/// A strategy that records its coverage.
struct Watched {
    strategy: Box<dyn Choose>,
    coverage: Rc<RefCell<Coverage>>,
}

impl Choose for Watched {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let chosen = self.strategy.choose(choice);
        self.coverage.borrow_mut().add(choice, chosen);
        chosen
    }

    fn duration(&mut self) -> u64 {
        self.strategy.duration()
    }

    fn pick(&mut self, pick: Pick, count: usize) -> Option<usize> {
        self.strategy.pick(pick, count)
    }

    fn observe(&mut self, property: Property) {
        self.strategy.observe(property);
    }
}

impl Coverage {
    fn add(&mut self, choice: &Choice<'_>, chosen: usize) {
        let after = choice.last.unwrap_or(0);
        let fiber = choice.ready[chosen];
        let known = after.max(fiber) as usize + 1;
        if self.counts.len() < known {
            self.counts.resize(known, 0);
        }
        self.counts[after as usize] += 1;
        let step = choice.fibers.step(chosen).filter(|step| step.object != 0);
        let Some(step) = step else {
            return;
        };
        let next = self.objects.len();
        let (number, last) = self.objects.entry(step.object).or_insert((next, None));
        let this = Last {
            fiber,
            operation: step.operation,
            site: choice.fibers.spawned_at(chosen),
        };
        let before = last.replace(this).filter(|last| last.fiber != fiber);
        if let Some(before) = before {
            let mut hasher = DefaultHasher::new();
            (before.operation, before.site, this.operation, this.site).hash(&mut hasher);
            number.hash(&mut hasher);
            self.pairs.push(hasher.finish());
        }
    }
}

/// The most deviations of a sample. Arbitrary: changes of few among very many are lost.
const LONGEST: usize = 1_000;

/// How far a deviation is moved at most, in choices after the same fiber. Arbitrary.
const FARTHEST: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::fake::{Fake, step};

    /// Makes a run of two choices, in which fibers 0 and 1 lock one object.
    fn run(guide: &Guide, object: usize, seed: u64) {
        let mut strategy = guide.make(seed, 2);
        let fibers = Fake(vec![Some(step(Operation::Lock, object)); 2]);
        let first = strategy.choose(&fibers.choice(&[0, 1], None, false));
        let left = [1 - first as u32];
        strategy.choose(&fibers.choice(&left, Some(first as u32), false));
    }

    #[test]
    fn a_run_with_a_new_pair_is_kept() {
        let mut guide = Guide::default();
        run(&guide, 7, 0);
        guide.learn(&[]);
        assert_eq!(guide.corpus.len(), 1);
        // The same pair, on the first object of a run again.
        run(&guide, 9, 1);
        guide.learn(&[]);
        assert_eq!(guide.corpus.len(), 1);
    }

    #[test]
    fn changes_stay_within_the_run() {
        let deviation = |nth| Deviation {
            name: Name {
                nth,
                ..Name::default()
            },
            taken: 1,
        };
        let sample = |nths: &[u32]| Sample {
            deviations: nths.iter().copied().map(deviation).collect(),
            counts: vec![9, 9],
        };
        let guide = Guide {
            corpus: vec![sample(&[1, 2, 3]), sample(&[]), sample(&[8])],
            ..Guide::default()
        };
        let mut seen = HashSet::new();
        for seed in 0..1_000 {
            let mutant = guide.mutant(&mut Rng::with_seed(seed));
            let is_known =
                |it: &Deviation| it.name.after < 2 && it.taken < 2 && it.name.nth >= 1;
            assert!(mutant.iter().all(is_known), "{mutant:?}");
            assert_eq!(mutant, guide.mutant(&mut Rng::with_seed(seed)));
            seen.insert(mutant);
        }
        assert!(seen.len() > 100, "{} mutants", seen.len());
    }
}
