//! A trace: the choices of a run that differ from the canonical schedule.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::panic::Location;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::dev::sim::{Choice, Choose, Operation, Pick, Property, Rule};

use crate::shrink;
use crate::strategy::canonical;
use crate::turns::Turns;
use crate::watchdog::Pulse;

/// A schedule, as its differences from the canonical one. There, each fiber continues until it
/// waits, and each select with several ready cases takes one that is fixed by the number of its
/// fiber, the count of such selects, and the number of those cases.
///
/// `FIBER.N>FIBER` is a choice: the Nth one after the first fiber, and the fiber that runs.
/// `FIBER.N?CASE` is a select: the Nth one of the fiber with several ready cases, and which of
/// them it takes; 1 is the first.
///
/// Its text contains no spaces. Parse it to replay the run:
/// [`Campaign::replay`](crate::Campaign::replay), or the environment variable `PIRN_SIM_TRACE`.
///
/// # Examples
/// ```
/// use pirn_sim::Trace;
///
/// let trace: Trace = "1:2a:0.3>1,1.7>0,1.2?1".parse().unwrap();
/// assert_eq!(trace.to_string(), "1:2a:0.3>1,1.7>0,1.2?1");
/// assert!("1:2a:0.3".parse::<Trace>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Trace {
    /// Seed of the times and of promotions.
    pub(crate) seed: u64,
    pub(crate) deviations: Vec<Deviation>,
}

/// One choice that differs from the canonical one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Deviation {
    pub(crate) name: Name,
    /// The number of the fiber that runs, or the index of the case among those that are ready.
    pub(crate) taken: u32,
}

/// The name of a choice: the fiber that ran last, or takes a case, and a count of its choices. So a
/// change of another fiber's code does not shift it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Name {
    pub(crate) of: Of,
    /// The number of the fiber.
    pub(crate) after: u32,
    /// Which of the choices; the first one is 1.
    pub(crate) nth: u32,
}

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Of {
    /// A fiber.
    #[default]
    Fiber,
    /// A case of a select.
    Case,
    /// Whether a pending half of a join becomes a fiber, and whether the fiber that joins yields.
    /// Drawn from the seed, and in no trace.
    Promotion,
}

/// The text is no trace.
///
/// # Examples
/// ```
/// let error = "x".parse::<pirn_sim::Trace>().unwrap_err();
/// assert!(error.to_string().starts_with("no trace: 'x'; expected 1:SEED:PART,..."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseTraceError(String);

impl fmt::Display for ParseTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no trace: '{}'; expected 1:SEED:PART,... with the seed in hexadecimal, and parts \
             FIBER.N>FIBER or FIBER.N?CASE, N from 1",
            self.0
        )
    }
}

impl std::error::Error for ParseTraceError {}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}:{:x}:", self.seed)?;
        for (index, it) in self.deviations.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            let Name { of, after, nth } = it.name;
            match of {
                Of::Case => write!(f, "{after}.{nth}?{}", it.taken + 1)?,
                _ => write!(f, "{after}.{nth}>{}", it.taken)?,
            }
        }
        Ok(())
    }
}

impl FromStr for Trace {
    type Err = ParseTraceError;

    fn from_str(text: &str) -> Result<Trace, ParseTraceError> {
        let parsed = || {
            let mut parts = text.trim().split(':');
            if parts.next()? != VERSION {
                return None;
            }
            let seed = u64::from_str_radix(parts.next()?, 16).ok()?;
            let listed = parts.next()?;
            let deviations = listed.split(',').filter(|it| !it.is_empty());
            let deviations = deviations.map(deviation).collect::<Option<_>>()?;
            parts.next().is_none().then_some(Trace { seed, deviations })
        };
        parsed().ok_or_else(|| ParseTraceError(text.to_owned()))
    }
}

fn deviation(text: &str) -> Option<Deviation> {
    let (of, (place, taken)) = match text.split_once('?') {
        Some(parts) => (Of::Case, parts),
        None => (Of::Fiber, text.split_once('>')?),
    };
    let (after, nth) = place.split_once('.')?;
    let name = Name {
        of,
        after: after.parse().ok()?,
        nth: nth.parse().ok().filter(|nth| *nth > 0)?,
    };
    let taken: u32 = taken.parse().ok()?;
    let taken = match of {
        Of::Case => taken.checked_sub(1)?,
        _ => taken,
    };
    Some(Deviation { name, taken })
}

/// The version of the text.
const VERSION: &str = "1";

/// The choices of one run so far.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) deviations: Vec<Deviation>,
    /// What the fibers did, if that is asked for.
    pub(crate) turns: Turns,
    /// The deviations that were possible, if that is asked for.
    pub(crate) possible: Vec<Deviation>,
    pub(crate) choices: u64,
    /// The first property that did not hold, though it always has to.
    pub(crate) violated: Option<Property>,
    /// Properties that hold sometimes: where, and whether they did, by name.
    pub(crate) sometimes: Sometimes,
    /// What the schedule does not decide.
    pub(crate) escapes: Escapes,
    /// Of all choices, the canonical ones included.
    pub(crate) hash: u64,
    names: Names,
}

/// Events of a run that no schedule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Escapes {
    /// Calls of files, sockets, processes, `blocking` and other runtimes.
    pub(crate) calls: u32,
    /// Choices before which another thread had made fibers ready.
    pub(crate) wakes: u32,
}

/// The counts of choices by fiber.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Choices after each fiber, its selects and its promotions.
    counts: Vec<[u32; 3]>,
    /// The fiber that runs.
    running: u32,
    /// The name of the last choice of a fiber.
    last: Name,
}

/// By name: where a property was evaluated that holds sometimes, and whether it did.
pub(crate) type Sometimes = BTreeMap<&'static str, (&'static Location<'static>, bool)>;

impl Names {
    /// Counts the choice of a fiber; returns its name.
    fn next(&mut self, choice: &Choice<'_>, chosen: usize) -> Name {
        self.last = self.count(Of::Fiber, choice.last.unwrap_or(0));
        self.run(choice.ready[chosen]);
        self.last
    }

    /// Counts a choice that the running fiber has; returns its name.
    pub(crate) fn next_pick(&mut self, of: Of) -> Name {
        self.count(of, self.running)
    }

    /// Records which fiber runs.
    pub(crate) fn run(&mut self, fiber: u32) {
        self.running = fiber;
    }

    fn count(&mut self, of: Of, after: u32) -> Name {
        let index = after as usize;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, [0; 3]);
        }
        let count = &mut self.counts[index][of as usize];
        *count += 1;
        let nth = *count;
        Name { of, after, nth }
    }
}

impl Recording {
    /// Adds deviations that were possible, up to the number of runs that try some.
    fn add_possible(&mut self, deviations: impl Iterator<Item = Deviation>) {
        let left = shrink::RUNS as usize - self.possible.len();
        self.possible.extend(deviations.take(left));
    }

    fn mix(&mut self, number: u32) {
        self.hash = (self.hash ^ u64::from(number))
            .wrapping_mul(MIX)
            .rotate_left(23);
    }
}

/// A strategy that records what another one chooses.
pub(crate) struct Recorder {
    pub(crate) strategy: Box<dyn Choose>,
    pub(crate) recording: Rc<RefCell<Recording>>,
    pub(crate) also: Also,
    /// Seed of the times, of promotions, and of cases that the strategy does not pick. With 0
    /// choices take no time.
    pub(crate) seed: u64,
    pub(crate) pulse: Arc<Pulse>,
}

/// What is recorded besides the deviations.
#[derive(Debug, Clone)]
pub(crate) enum Also {
    Nothing,
    /// What the fibers did, with the places of the turns with these indexes.
    Turns(HashSet<usize>),
    /// The deviations that were possible.
    Possible,
}

thread_local! {
    /// The index of the present turn, if turns are recorded.
    pub(crate) static TURN: Cell<usize> = const { Cell::new(0) };
}

impl Choose for Recorder {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        self.pulse.beat();
        let chosen = self.strategy.choose(choice);
        let recording = &mut *self.recording.borrow_mut();
        let name = recording.names.next(choice, chosen);
        recording.choices += 1;
        let runs = choice.ready[chosen];
        recording.mix(runs);
        recording.escapes.add(choice, chosen);
        let usual = canonical(choice);
        if matches!(self.also, Also::Possible) {
            let others = choice.ready.iter().filter(|it| **it != choice.ready[usual]);
            let deviations = others.map(|runs| Deviation { name, taken: *runs });
            recording.add_possible(deviations);
        }
        if chosen != usual {
            recording.deviations.push(Deviation { name, taken: runs });
        }
        if let Also::Turns(places) = &self.also {
            recording.turns.add(choice, usual, chosen, places);
            // None of the list, if that is full.
            let beyond = recording.turns.beyond as usize;
            TURN.set(recording.turns.list.len() - 1 + beyond);
        }
        chosen
    }

    fn duration(&mut self) -> u64 {
        match self.seed {
            0 => 0,
            seed => duration_of(seed, self.recording.borrow().names.last),
        }
    }

    fn pick(&mut self, pick: Pick, count: usize) -> Option<usize> {
        let recording = &mut *self.recording.borrow_mut();
        if pick != Pick::Case {
            let name = recording.names.next_pick(Of::Promotion);
            let picked = drawn(self.seed, name).usize(..count);
            recording.mix(picked as u32);
            return Some(picked);
        }
        let name = recording.names.next_pick(Of::Case);
        let usual = usual(name, count);
        let picked = match self.strategy.pick(pick, count) {
            Some(picked) => picked.min(count - 1),
            None => drawn(self.seed, name).usize(..count),
        };
        let deviation = |case: usize| Deviation {
            name,
            taken: case as u32,
        };
        recording.mix(picked as u32);
        if matches!(self.also, Also::Possible) {
            let others = (0..count).filter(|it| *it != usual);
            recording.add_possible(others.map(deviation));
        }
        if picked != usual {
            recording.deviations.push(deviation(picked));
            if let Also::Turns(_) = &self.also {
                recording.turns.pick(picked, count);
            }
        }
        Some(picked)
    }

    fn observe(&mut self, property: Property) {
        let recording = &mut *self.recording.borrow_mut();
        match property.rule {
            Rule::Always if !property.holds => {
                recording.violated.get_or_insert(property);
            }
            Rule::Always => {}
            Rule::Sometimes => {
                let met = recording.sometimes.entry(property.name);
                met.or_insert((property.at, false)).1 |= property.holds;
            }
        }
    }
}

impl Escapes {
    fn add(&mut self, choice: &Choice<'_>, chosen: usize) {
        let step = choice.fibers.step(chosen);
        self.calls += u32::from(step.is_some_and(|it| it.operation == Operation::Io));
        self.wakes += u32::from(choice.woken_by_others);
    }

    /// Returns true if there were any.
    pub(crate) fn any(self) -> bool {
        self != Escapes::default()
    }
}

impl fmt::Display for Escapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Escapes { calls, wakes } = self;
        let s = |count: &u32| if *count == 1 { "" } else { "s" };
        if *wakes > 0 {
            write!(f, "{wakes} wake{} by other threads", s(wakes))?;
        }
        if *calls > 0 {
            let and = if *wakes > 0 { " and " } else { "" };
            let of = "of files, sockets, processes, `blocking` or other runtimes";
            write!(f, "{and}{calls} call{} {of}", s(calls))?;
        }
        Ok(())
    }
}

/// Returns the random numbers of a choice: they depend on no other one.
fn drawn(seed: u64, name: Name) -> fastrand::Rng {
    let number = u64::from(name.after) << 32 | u64::from(name.nth);
    let stream = (name.of as u64).wrapping_mul(STREAM);
    fastrand::Rng::with_seed(seed ^ number.wrapping_mul(MIX) ^ stream)
}

/// Returns the case that a select takes in the canonical schedule. Not always the first one: a loop
/// that has one case ready in each turn would never take another.
pub(crate) fn usual(name: Name, count: usize) -> usize {
    drawn(0, name).usize(..count)
}

/// Returns how many nanoseconds of virtual time the choice of this name takes: 40 ns to 5 µs, each
/// of seven powers of two as often as the others.
fn duration_of(seed: u64, name: Name) -> u64 {
    let mut rng = drawn(seed, name);
    let least = SHORTEST << rng.u32(..7);
    rng.u64(least..2 * least)
}

/// The shortest time of a choice, in nanoseconds.
const SHORTEST: u64 = 40;

/// An odd number with about half of its bits set.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const STREAM: u64 = 0xd6e8_feb8_6659_fd93;

/// A strategy that follows a trace. A deviation to a fiber or a case that is not ready is skipped.
pub(crate) struct Replay {
    deviations: HashMap<Name, u32>,
    names: Names,
    /// How many deviations have been followed.
    followed: Arc<AtomicUsize>,
}

impl Replay {
    pub(crate) fn new(trace: &Trace) -> Replay {
        let named = trace.deviations.iter();
        Replay {
            deviations: named.map(|it| (it.name, it.taken)).collect(),
            names: Names::default(),
            followed: Arc::default(),
        }
    }

    /// Adds the deviations that are followed to `count`.
    pub(crate) fn counting(self, count: &Arc<AtomicUsize>) -> Replay {
        let followed = Arc::clone(count);
        Replay { followed, ..self }
    }

    fn count(&self, follows: bool) {
        // ORDERING: Relaxed: read after the run, which the reader joins.
        self.followed
            .fetch_add(usize::from(follows), Ordering::Relaxed);
    }
}

impl Choose for Replay {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let place = |runs: &u32| choice.ready.iter().position(|it| it == runs);
        let name = self.names.count(Of::Fiber, choice.last.unwrap_or(0));
        let wanted = self.deviations.get(&name).and_then(place);
        let chosen = wanted.unwrap_or_else(|| canonical(choice));
        self.names.run(choice.ready[chosen]);
        self.count(wanted.is_some());
        chosen
    }

    fn pick(&mut self, _: Pick, count: usize) -> Option<usize> {
        let name = self.names.next_pick(Of::Case);
        let wanted = self.deviations.get(&name).map(|case| *case as usize);
        let wanted = wanted.filter(|case| *case < count);
        self.count(wanted.is_some());
        Some(wanted.unwrap_or_else(|| usual(name, count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Fake;

    #[test]
    fn no_more_deviations_are_kept_than_are_tried() {
        let recording = Rc::new(RefCell::new(Recording::default()));
        let mut recorder = Recorder {
            strategy: Box::new(Replay::new(&Trace::default())),
            recording: Rc::clone(&recording),
            also: Also::Possible,
            seed: 0,
            pulse: Arc::default(),
        };
        let ready: Vec<u32> = (0..1_000).collect();
        let fibers = Fake(vec![None; ready.len()]);
        for _ in 0..50 {
            recorder.choose(&fibers.choice(&ready, None, false));
        }
        let kept = recording.borrow().possible.len();
        assert_eq!(kept, shrink::RUNS as usize);
    }
}
