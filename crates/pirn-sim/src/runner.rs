//! Runs of a body, one after the other, in one runtime.
//!
//! Owns: the runtime, the panic hook that keeps failed runs silent, and the verdict of a run. Does
//! not own: how many runs there are, and with which strategy (`series`, `shrink`).
//!
//! All runs of a runtime have the same driver, one of its fibers. It spawns the body and waits
//! until nothing can happen any more. A runtime for each run would cost a hundred times as much as
//! a small run.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::panic;
use std::rc::Rc;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::dev::sim::{self, Choose, Ended};
use pirn::diag::FiberInfo;
use pirn::runtime::{Deadlock, Handle};
use pirn::spawn::FiberId;

use crate::failure::Verdict;
use crate::trace::{
    Also, Deviation, Escapes, Recorder, Recording, Sometimes, TURN, Trace,
};
use crate::turns::Turns;
use crate::watchdog::{Pulse, Repeat};

/// The test.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) trace: Trace,
    pub(crate) sometimes: Sometimes,
    pub(crate) possible: Vec<Deviation>,
    /// The first panic, whichever fiber's: its place and its message, and the index of its turn.
    pub(crate) first_panic: Option<(String, usize)>,
    /// What the fibers did, if that was asked for.
    pub(crate) turns: Turns,
    /// The identities and the addresses of the fibers by number, if turns were asked for.
    pub(crate) fibers: Vec<(FiberId, usize)>,
    /// The fibers that wait indefinitely.
    pub(crate) stuck: Vec<FiberInfo>,
    pub(crate) escapes: Escapes,
    pub(crate) choices: u64,
    pub(crate) hash: u64,
}

/// A run that is to be made.
pub(crate) struct Plan {
    pub(crate) strategy: Box<dyn Choose>,
    /// Seed of the times, of promotions, and of cases that the strategy does not pick.
    pub(crate) seed: u64,
    /// Maximum number of choices.
    pub(crate) most: u64,
    pub(crate) also: Also,
    pub(crate) repeat: Repeat,
    pub(crate) pulse: Arc<Pulse>,
}

/// A runtime for runs.
pub(crate) struct Runner {
    runtime: Runtime,
    /// The first panic that was lost: no party has joined its fiber.
    lost: Lost,
    /// Its virtual time is nearly spent.
    pub(crate) is_old: bool,
}

type Lost = Arc<Mutex<Option<String>>>;

/// The driver's record of a runtime.
pub(crate) struct Driver<'a> {
    handle: &'a Handle,
    body: &'a Body,
    lost: &'a Lost,
    /// The fibers that earlier runs have left.
    left: HashSet<FiberId>,
    /// Fibers that were ready have been lost.
    is_spoiled: bool,
}

impl Runner {
    /// # Panics
    /// If the system does not start a thread.
    pub(crate) fn new() -> Runner {
        silence();
        let lost = Lost::default();
        let seen = Arc::clone(&lost);
        let builder = Runtime::builder()
            .name("pirn-sim")
            .deterministic(0)
            .outside_limit(Duration::ZERO)
            .deadlock(Deadlock::Off)
            .on_panic(move |panic| {
                let text = format!(
                    "a fiber spawned at {}: {}",
                    panic.spawned_at(),
                    panic.message().unwrap_or("a value that is no text")
                );
                seen.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(text);
            });
        let runtime = builder.build();
        let runtime =
            runtime.unwrap_or_else(|error| panic!("pirn-sim: no runtime: {error}"));
        Runner {
            runtime,
            lost,
            is_old: false,
        }
    }

    /// Calls `f` with a driver, on a fiber of the runtime. Returns the runner too, unless fibers
    /// are left in it.
    pub(crate) fn drive<R: Send>(
        self,
        body: &Body,
        f: impl FnOnce(&mut Driver<'_>) -> R + Send,
    ) -> (R, Option<Runner>) {
        let handle = self.runtime.handle();
        let (result, is_clean, is_old) = self.runtime.run(|| {
            let mut driver = Driver {
                handle: &handle,
                body,
                lost: &self.lost,
                left: HashSet::from([pirn::current().id()]),
                is_spoiled: false,
            };
            let own = sim::live();
            let result = f(&mut driver);
            let is_clean = sim::live() == own && !driver.is_spoiled;
            (result, is_clean, is_old())
        });
        // Fibers that never end keep their stacks.
        let mut this = ManuallyDrop::new(self);
        this.is_old = is_old;
        (result, is_clean.then(|| ManuallyDrop::into_inner(this)))
    }
}

impl Driver<'_> {
    /// Makes a run.
    pub(crate) fn run(&mut self, plan: Plan) -> Ran {
        let recording = Rc::new(RefCell::new(Recording::default()));
        let is_explained = matches!(plan.also, Also::Turns(_));
        let recorder = Recorder {
            strategy: plan.strategy,
            recording: Rc::clone(&recording),
            also: plan.also,
            seed: plan.seed,
            pulse: Arc::clone(&plan.pulse),
        };
        plan.pulse.begin(plan.repeat);
        PULSE.set(Some(Arc::clone(&plan.pulse)));
        IS_SILENT.set(true);
        SEED.set(plan.seed);
        FIRST.take();
        LAST.take();
        // One of the run before, if its body has panicked as well.
        drop(self.lost_panic());
        sim::begin(Box::new(recorder), plan.most);
        let body = Arc::clone(self.body);
        let fiber = pirn::spawn(move || body());
        let ended = sim::settle();
        let fibers = if is_explained {
            sim::fibers()
        } else {
            Vec::new()
        };
        if ended == Ended::Quiet {
            drop(sim::finish());
        }
        let mut stuck = Vec::new();
        let verdict = match ended {
            // The run stays: in it, nothing but the driver runs any more.
            Ended::Spent => {
                self.is_spoiled = true;
                Some(Verdict::Endless(plan.most))
            }
            Ended::Quiet if fiber.is_finished() => match fiber.join() {
                Ok(()) => self.lost_panic().or_else(|| self.deadlock(&mut stuck)),
                Err(error) => Some(Verdict::Panic(message(error.try_into_panic().ok()))),
            },
            Ended::Quiet => self.lost_panic().or_else(|| self.deadlock(&mut stuck)),
        };
        plan.pulse.end();
        IS_SILENT.set(false);
        SEED.set(0);
        let recording = recording.take();
        let violated = recording.violated.map(Verdict::violated);
        Ran {
            verdict: violated.or(verdict),
            sometimes: recording.sometimes,
            trace: Trace {
                seed: plan.seed,
                deviations: recording.deviations,
            },
            possible: recording.possible,
            first_panic: FIRST.take(),
            turns: recording.turns,
            fibers,
            stuck,
            escapes: recording.escapes,
            choices: recording.choices,
            hash: recording.hash,
        }
    }

    /// Returns a panic that no party has joined, if there was one.
    fn lost_panic(&mut self) -> Option<Verdict> {
        let lost = self
            .lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        lost.map(Verdict::Panic)
    }

    /// Describes the fibers that the last run has left, if there are any, and adds them to
    /// `stuck`.
    fn deadlock(&mut self, stuck: &mut Vec<FiberInfo>) -> Option<Verdict> {
        if sim::live() == self.left.len() as u64 {
            return None;
        }
        let mut fibers = self.handle.fibers();
        fibers.retain(|fiber| self.left.insert(fiber.id));
        let texts = fibers.iter().map(|fiber| {
            let at = fiber.waits_at.map(|at| format!(" at {at}"));
            let spawned_at = fiber.spawned_at;
            format!(
                "a fiber spawned at {spawned_at} waits{}",
                at.unwrap_or_default()
            )
        });
        let verdict = Verdict::Deadlock(texts.collect());
        *stuck = fibers;
        Some(verdict)
    }
}

/// Returns the seed of the present run. 0 outside of a campaign, in the canonical schedule, and in
/// a search without a bound. The runs of a search with a bound have one seed, and shrinking tries
/// 0.
///
/// For data that differs between runs: seed a generator with it. A trace has the seed, so a replay
/// has the same data.
///
/// # Examples
/// ```
/// pirn_sim::campaign().runs(10).check(|| {
///     let length = pirn_sim::seed() % 4;
///     assert!(length < 4);
/// });
/// assert_eq!(pirn_sim::seed(), 0);
/// ```
#[must_use]
pub fn seed() -> u64 {
    SEED.get()
}

/// Returns true if the caller's runtime has had much of its virtual time, which began with the real
/// one: after almost nine years a sleep would never end.
pub(crate) fn is_old() -> bool {
    sim::now().saturating_duration_since(Instant::now()) > OLD
}

/// About half of the virtual time of a runtime: a run may take the other half.
const OLD: Duration = Duration::from_secs(4 * 365 * 86_400);

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    /// A run is in progress on this thread.
    static IS_SILENT: Cell<bool> = const { Cell::new(false) };
    /// The progress of its campaign.
    static PULSE: RefCell<Option<Arc<Pulse>>> = const { RefCell::new(None) };
    /// The last panic of the present run: its place and its message.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    /// The first one, and the index of its turn.
    static FIRST: RefCell<Option<(String, usize)>> = const { RefCell::new(None) };
}

/// Makes panics of runs silent: a report has the one that matters.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_SILENT.get() {
                return usual(info);
            }
            let what = text(info.payload());
            let at = info.location().map(ToString::to_string);
            let said = format!("{}: {what}", at.unwrap_or_default());
            if ABORTS.iter().any(|start| what.starts_with(start)) {
                abort(&said);
            }
            FIRST.with_borrow_mut(|first| {
                first.get_or_insert_with(|| (said.clone(), TURN.get()));
            });
            LAST.set(said);
        }));
    });
}

/// Prints the first and the last panic of the present run, after which `std` aborts.
#[cold]
fn abort(why: &str) {
    let first = FIRST.with_borrow(|first| first.as_ref().map(|it| it.0.clone()));
    let last = first.is_some().then(|| LAST.with_borrow(String::clone));
    let mut panics: Vec<_> = first.into_iter().chain(last).collect();
    panics.dedup();
    PULSE.with_borrow(|pulse| {
        if let Some(pulse) = pulse {
            pulse.abort(why, &panics);
        }
    });
}

/// How the messages of panics that cannot unwind begin: stable Rust has no other sign of them.
/// Another panic with such a message is printed too.
const ABORTS: [&str; 5] = [
    "panic in a ",
    "trying to construct an enum",
    "unsafe precondition",
    "misaligned pointer dereference",
    "null pointer dereference",
];

/// Returns the place and the message of the panic that has ended the body.
fn message(payload: Option<Box<dyn Any + Send>>) -> String {
    let last = LAST.take();
    let own = payload.map(|payload| text(payload.as_ref()).to_owned());
    match own {
        // The place is known if it was the last panic.
        Some(own) if !last.ends_with(&format!(": {own}")) => own,
        _ => last,
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let string = payload.downcast_ref::<String>().map(String::as_str);
    let text = string.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a value that is no text")
}
