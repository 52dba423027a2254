//! A trace: the choices of a run that differ from the canonical schedule.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::panic::Location;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::dev::sim::{Choice, Choose, Property, Rule};

use crate::strategy::canonical;
use crate::turns::Turns;
use crate::watchdog::Pulse;

/// A schedule, as its differences from the canonical one, in which each fiber goes on until it
/// waits.
///
/// Its text contains no spaces. Parse it to replay the run:
/// [`Campaign::replay`](crate::Campaign::replay), or the environment variable `PIRN_SIM_TRACE`.
///
/// # Examples
/// ```
/// use pirn_sim::Trace;
///
/// let trace: Trace = "1:2a:0.3>1,1.7>0".parse().unwrap();
/// assert_eq!(trace.to_string(), "1:2a:0.3>1,1.7>0");
/// assert!("1:2a:0.3".parse::<Trace>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Trace {
    /// Seed of the choices that are not the strategy's.
    pub(crate) seed: u64,
    pub(crate) deviations: Vec<Deviation>,
}

/// One choice that differs from the canonical one. It is named by the fiber that ran last, and by
/// the count of choices made after that fiber. So a change of another fiber's code does not shift
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Deviation {
    /// The number of the fiber that ran last.
    pub(crate) after: u32,
    /// Which of the choices after that fiber; the first one is 1.
    pub(crate) nth: u32,
    /// The number of the fiber that runs.
    pub(crate) runs: u32,
}

/// The text is no trace.
///
/// # Examples
/// ```
/// let error = "x".parse::<pirn_sim::Trace>().unwrap_err();
/// assert!(error.to_string().starts_with("no trace: 'x'; expected 1:SEED:FIBER.N>FIBER,..."));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseTraceError(String);

impl fmt::Display for ParseTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no trace: '{}'; expected 1:SEED:FIBER.N>FIBER,... with the seed in hexadecimal",
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
            write!(f, "{}.{}>{}", it.after, it.nth, it.runs)?;
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
    let (place, runs) = text.split_once('>')?;
    let (after, nth) = place.split_once('.')?;
    Some(Deviation {
        after: after.parse().ok()?,
        nth: nth.parse().ok()?,
        runs: runs.parse().ok()?,
    })
}

/// The version of the text.
const VERSION: &str = "1";

/// The choices of one run so far.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) deviations: Vec<Deviation>,
    /// What the fibers did, if that is asked for.
    pub(crate) turns: Turns,
    /// All deviations that were possible, if that is asked for.
    pub(crate) possible: Vec<Deviation>,
    pub(crate) choices: u64,
    /// The first property that did not hold, though it always has to.
    pub(crate) violated: Option<Property>,
    /// Properties that hold sometimes: where, and whether they did, by name.
    pub(crate) sometimes: Sometimes,
    /// The name of the last choice.
    last: (u32, u32),
    /// Of all choices, the canonical ones included.
    pub(crate) hash: u64,
    /// Choices after each fiber.
    counts: Vec<u32>,
}

/// By name: where a property was evaluated that holds sometimes, and whether it did.
pub(crate) type Sometimes = BTreeMap<&'static str, (&'static Location<'static>, bool)>;

impl Recording {
    /// Counts a choice; returns its name.
    fn count(&mut self, last: Option<u32>) -> (u32, u32) {
        let after = last.unwrap_or(0);
        let index = after as usize;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.choices += 1;
        self.last = (after, self.counts[index]);
        self.last
    }
}

/// A strategy that records what another one chooses.
pub(crate) struct Recorder {
    pub(crate) strategy: Box<dyn Choose>,
    pub(crate) recording: Rc<RefCell<Recording>>,
    pub(crate) also: Also,
    /// The choices take time, drawn from this seed; none if it is 0.
    pub(crate) seed: u64,
    pub(crate) pulse: Arc<Pulse>,
}

/// What is recorded besides the deviations.
#[derive(Debug, Clone)]
pub(crate) enum Also {
    Nothing,
    /// What the fibers did, with the places of the turns with these indexes.
    Turns(HashSet<usize>),
    /// All deviations that were possible.
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
        let (after, nth) = recording.count(choice.last);
        let runs = choice.ready[chosen];
        recording.hash = (recording.hash ^ u64::from(runs))
            .wrapping_mul(MIX)
            .rotate_left(23);
        let usual = canonical(choice);
        if matches!(self.also, Also::Possible) {
            let others = choice.ready.iter().filter(|it| **it != choice.ready[usual]);
            let deviations = others.map(|runs| Deviation {
                after,
                nth,
                runs: *runs,
            });
            recording.possible.extend(deviations);
        }
        if chosen != usual {
            recording.deviations.push(Deviation { after, nth, runs });
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
            seed => duration_of(seed, self.recording.borrow().last),
        }
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

/// Returns how many nanoseconds of virtual time the choice of this name takes: 40 ns to 5 µs, each
/// of seven powers of two as often as the others.
fn duration_of(seed: u64, name: (u32, u32)) -> u64 {
    let name = u64::from(name.0) << 32 | u64::from(name.1);
    let mut rng = fastrand::Rng::with_seed(seed ^ name.wrapping_mul(MIX));
    let least = SHORTEST << rng.u32(..7);
    rng.u64(least..2 * least)
}

/// The shortest time of a choice, in nanoseconds.
const SHORTEST: u64 = 40;

/// An odd number with about half of its bits set.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A strategy that follows a trace. A deviation to a fiber that is not ready is skipped.
pub(crate) struct Replay {
    deviations: HashMap<(u32, u32), u32>,
    counting: Recording,
    /// How many deviations have been followed.
    followed: Arc<AtomicUsize>,
}

impl Replay {
    pub(crate) fn new(trace: &Trace) -> Replay {
        let named = trace.deviations.iter();
        Replay {
            deviations: named.map(|it| ((it.after, it.nth), it.runs)).collect(),
            counting: Recording::default(),
            followed: Arc::default(),
        }
    }

    /// Adds the deviations that are followed to `count`.
    pub(crate) fn counting(self, count: &Arc<AtomicUsize>) -> Replay {
        let followed = Arc::clone(count);
        Replay { followed, ..self }
    }
}

impl Choose for Replay {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let name = self.counting.count(choice.last);
        let wanted = self.deviations.get(&name);
        let place = |runs| choice.ready.iter().position(|it| it == runs);
        match wanted.and_then(place) {
            Some(index) => {
                // ORDERING: Relaxed: read after the run, which the reader joins.
                self.followed.fetch_add(1, Ordering::Relaxed);
                index
            }
            None => canonical(choice),
        }
    }
}
