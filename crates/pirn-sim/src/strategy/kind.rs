//! The public choice of a strategy, and how one is made for a run.

use fastrand::Rng;
use pirn::dev::sim::{Choice, Choose};

use super::delays::Delays;
use super::pct::Pct;
use super::pos::Pos;
use super::random::Random;

/// How a [campaign](crate::campaign()) chooses schedules.
///
/// # Examples
/// ```
/// use pirn_sim::Strategy;
///
/// // All schedules of two fibers with at most one preemption.
/// let small = pirn_sim::campaign().strategy(Strategy::Exhaustive { preemptions: 1 });
/// small.check(|| drop(pirn::spawn(|| ()).join()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Another strategy for each run, drawn from the seed of the run: `Random`, `Pct`, `Pos` or
    /// `Delays`.
    #[default]
    Portfolio,
    /// Each ready fiber with equal probability.
    Random,
    /// Priorities that are drawn once, and change at `depth - 1` choices; finds each bug that
    /// `depth` orders of operations cause with a known probability.
    ///
    /// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with
    /// Probabilistic Guarantees of Finding Bugs, ASPLOS 2010.
    Pct {
        /// The number of orders; at least 1.
        depth: u32,
    },
    /// Each operation has a random priority, and the highest one runs. After it, those of other
    /// fibers on the same object have new priorities. So the orders of operations on one object are
    /// drawn almost evenly, however many operations there are on others.
    ///
    /// Source: Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018.
    Pos,
    /// The canonical schedule, in which each fiber continues until it waits; at up to `most`
    /// choices another ready fiber runs.
    ///
    /// Source: Emmi, Qadeer, Rakamarić: Delay-Bounded Scheduling, POPL 2011.
    Delays {
        /// The number of such choices.
        most: u32,
    },
    /// The portfolio for half of the runs. Each other one is a change of an earlier run, in which
    /// two operations on one object had come after each other as in no run before.
    ///
    /// A run depends on those before it, so its seed alone does not repeat it. A failure is
    /// replayed by its [`Trace`](crate::Trace).
    ///
    /// Source: Wolff, Shi, Duck, Mathur, Roychoudhury: Greybox Fuzzing for Concurrency Testing,
    /// ASPLOS 2024.
    Guided,
    /// All schedules in which a fiber that could continue is preempted at most `preemptions` times.
    /// The campaign ends when all of them have run. Another case of a select than the canonical
    /// one, if several are ready, counts as a preemption, and at most four selects of a run take
    /// one.
    ///
    /// A fiber that has called [`yield_now`](pirn::yield_now) runs after another ready one, if
    /// there is one.
    ///
    /// With `u32::MAX` there is no bound, and of schedules that differ only in the order of
    /// independent operations, such as locks of two mutexes, one runs, or few. That holds if what
    /// fibers share besides objects of the library is used right after a [`point`](crate::point):
    /// the atomics of `std`, the count of an `Arc`, a destructor that its last owner runs. Choices
    /// take no time then. With any smaller number all schedules within it run, for one
    /// set of drawn times and halves of joins.
    ///
    /// Source: Musuvathi, Qadeer: Iterative Context Bounding for Systematic Testing of
    /// Multithreaded Programs, PLDI 2007.
    Exhaustive {
        /// The number of preemptions.
        preemptions: u32,
    },
}

impl Strategy {
    /// Returns the strategy of a run; `expected` is about the number of choices in it.
    ///
    /// `Exhaustive` and `Guided` are not made from a seed alone (see `Exhaustive` and `Guide`).
    pub(crate) fn make(self, seed: u64, expected: u64) -> Box<dyn Choose> {
        let mut rng = Rng::with_seed(seed);
        match self {
            Strategy::Portfolio | Strategy::Guided => {
                let drawn = match rng.u32(..16) {
                    0..5 => Strategy::Random,
                    5..11 => Strategy::Pct {
                        depth: rng.u32(2..=5),
                    },
                    11..15 => Strategy::Pos,
                    _ => Strategy::Delays {
                        most: rng.u32(1..=3),
                    },
                };
                drawn.make(rng.u64(..), expected)
            }
            Strategy::Random | Strategy::Exhaustive { .. } => Box::new(Random::new(rng)),
            Strategy::Pos => Box::new(Pos::new(rng)),
            Strategy::Pct { depth } => Box::new(Pct::new(rng, depth, expected)),
            Strategy::Delays { most } => Box::new(Delays::new(rng, most, expected)),
        }
    }
}

/// Returns the index of the fiber that the canonical schedule runs: the one that ran last, if it
/// could continue, or else the one that has been ready for longest.
pub(crate) fn canonical(choice: &Choice<'_>) -> usize {
    let last = choice.last.filter(|_| choice.can_continue);
    let place = last.and_then(|last| choice.ready.iter().position(|it| *it == last));
    place.unwrap_or(0)
}
