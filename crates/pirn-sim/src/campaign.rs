//! Campaigns: many runs of a test, up to the first failure.

use std::collections::HashSet;
use std::env;
use std::fmt;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::corpus::{self, Entry};
use crate::diagram::{self, Diagram};
use crate::explain::{self, Explained, Scene, Stuck};
use crate::failure::{Failure, Verdict};
use crate::output;
use crate::runner::{Body, Driver, Plan, Ran, Runner};
use crate::series::{Limits, Series};
use crate::shrink::{Shrunk, Tried, shrink};
use crate::strategy::Strategy;
use crate::trace::{Also, Escapes, Replay, Sometimes, Trace};
use crate::watchdog::{Pulse, Repeat, Watchdog};

/// Creates a campaign: by default 1,000 runs, or as many as begin within 10 s. The seeds count up
/// from a random one.
///
/// The environment takes precedence over the methods of [`Campaign`]: `PIRN_SIM_SEED` is the seed
/// of the first run, `PIRN_SIM_RUNS` their number, `PIRN_SIM_TIME` their limit in seconds,
/// `PIRN_SIM_JOBS` the number of threads. `PIRN_SIM_TRACE` replays one trace, once. `PIRN_SIM_OUT`
/// is a directory to which a failure writes its trace, its diagram and its trace events ([`Failure::to_html`],
/// [`Failure::to_perfetto`]); the names of the files are those of the test and the seed. Each
/// variable holds for every campaign of the process: run one test. `PIRN_SIM_RUNS` and
/// `PIRN_SIM_TIME` do not apply to [`Strategy::Exhaustive`].
///
/// # Examples
/// ```
/// use pirn::channel;
///
/// pirn_sim::campaign().runs(100).check(|| {
///     let (tx, rx) = channel::bounded(1);
///     let sender = pirn::spawn(move || tx.send(7));
///     assert_eq!(rx.recv(), Ok(7));
///     sender.join().unwrap().unwrap();
/// });
/// ```
#[track_caller]
pub fn campaign() -> Campaign {
    let thread = thread::current();
    Campaign {
        test: thread.name().unwrap_or("unnamed").to_owned(),
        at: Location::caller(),
        runs: None,
        time: None,
        seed: None,
        choices: CHOICES,
        strategy: Strategy::default(),
        replay: None,
        reaches: Vec::new(),
        corpus: None,
        stuck: STUCK,
        jobs: 1,
        pulse: Arc::default(),
    }
}

/// Many runs of a test, each with another schedule: see [`campaign`](campaign()).
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let long = pirn_sim::campaign().runs(u64::MAX).for_real(Duration::from_millis(10));
/// long.check(|| drop(pirn::spawn(|| ()).join()));
/// ```
#[derive(Debug, Clone)]
#[must_use = "a campaign runs when `check` or `find` is called"]
pub struct Campaign {
    test: String,
    at: &'static Location<'static>,
    runs: Option<u64>,
    time: Option<Duration>,
    seed: Option<u64>,
    choices: u64,
    pub(crate) strategy: Strategy,
    replay: Option<Trace>,
    /// Names of properties that one run at least has to meet.
    reaches: Vec<&'static str>,
    corpus: Option<PathBuf>,
    /// A run without a choice for so long ends the process.
    stuck: Duration,
    /// The number of threads.
    jobs: usize,
    pulse: Arc<Pulse>,
}

impl Campaign {
    /// Sets how many seeds are tried. Before the first one the canonical schedule runs, one run of
    /// 64 is repeated, and a failure is shrunk in up to 10,000 more runs.
    ///
    /// # Examples
    /// ```
    /// pirn_sim::campaign().runs(10).check(|| ());
    /// ```
    pub fn runs(mut self, runs: u64) -> Campaign {
        self.runs = Some(runs);
        self
    }

    /// Sets the real time after which no new run begins. Shrinking a failure takes up to 2 s more.
    /// A run in progress is not stopped.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// pirn_sim::campaign().for_real(Duration::from_millis(10)).check(|| ());
    /// ```
    pub fn for_real(mut self, time: Duration) -> Campaign {
        self.time = Some(time);
        self
    }

    /// Sets the seed of the first run; the next ones have the numbers after it.
    ///
    /// # Examples
    /// ```
    /// pirn_sim::campaign().seed(1).runs(10).check(|| ());
    /// ```
    pub fn seed(mut self, seed: u64) -> Campaign {
        self.seed = Some(seed);
        self
    }

    /// Sets the maximum number of choices in one run; by default a million. A run with more fails.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::Verdict;
    ///
    /// let failure = pirn_sim::campaign().choices(100).find(|| loop {
    ///     pirn::yield_now();
    /// });
    /// assert_eq!(*failure.unwrap().verdict(), Verdict::Endless(100));
    /// ```
    pub fn choices(mut self, choices: u64) -> Campaign {
        self.choices = choices;
        self
    }

    /// Sets the real time within which a run has to come to its next choice; by default 10 s. Calls
    /// of [`blocking`](pirn::blocking()) and of files count, so set more than they take.
    ///
    /// If a run makes no choice for so long, nothing in its runtime can end it: the fiber on its
    /// only worker loops without an operation of the library, or takes a lock of `std` that another
    /// fiber holds. Then the fibers are printed, how to repeat the run, and the failure that the
    /// campaign has found before, if any. The process ends with exit code 124.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// // The body calls a slow service.
    /// pirn_sim::campaign().runs(1).stuck_limit(Duration::from_secs(60)).check(|| ());
    /// ```
    pub fn stuck_limit(mut self, limit: Duration) -> Campaign {
        self.stuck = limit;
        self
    }

    /// Sets on how many threads runs are made; by default 1, since a test harness runs several tests
    /// at once. 0 counts as 1.
    ///
    /// The first failure is that of the lowest run, as with one thread, unless the time ends. The
    /// body then runs beside itself: what it shares with other runs in a static makes it depend on
    /// more than the schedule. `Exhaustive` and `Guided` learn from each run, and stay on one
    /// thread. With more than one, the calling thread is blocked, also if a fiber calls.
    ///
    /// # Examples
    /// ```
    /// // For a long campaign on a machine of its own.
    /// pirn_sim::campaign().jobs(2).runs(1_000).check(|| drop(pirn::spawn(|| ()).join()));
    /// ```
    pub fn jobs(mut self, jobs: usize) -> Campaign {
        self.jobs = jobs;
        self
    }

    /// Sets how schedules are chosen.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::Strategy;
    ///
    /// pirn_sim::campaign().strategy(Strategy::Pct { depth: 3 }).runs(10).check(|| ());
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Campaign {
        self.strategy = strategy;
        self
    }

    /// Requires that one run at least meets the property `name`: that it runs a
    /// [`reachable!`](pirn::sim::reachable) of that name, or finds the condition of a
    /// [`sometimes!`](pirn::sim::sometimes) true. If none does, the campaign fails.
    ///
    /// A `sometimes!` that was evaluated, but never held, fails the campaign without this. One that
    /// was never evaluated is not known to the campaign otherwise. Neither is checked where the
    /// environment sets the seed or the number of runs.
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::Verdict;
    ///
    /// let failure = pirn_sim::campaign().runs(10).reaches("the queue is full").find(|| ());
    /// assert!(matches!(failure.unwrap().verdict(), Verdict::NeverMet(names) if names.len() == 1));
    /// ```
    pub fn reaches(mut self, name: &'static str) -> Campaign {
        self.reaches.push(name);
        self
    }

    /// Makes one run, which follows `trace`.
    ///
    /// # Examples
    /// ```
    /// let trace = "1:0:".parse().unwrap();
    /// pirn_sim::campaign().replay(trace).check(|| ());
    /// ```
    pub fn replay(mut self, trace: Trace) -> Campaign {
        self.replay = Some(trace);
        self
    }

    /// Sets a file of traces that run first: of failures that have been repaired, and should not
    /// come back. It has one line for each: the trace, a space, and the first line of the failure.
    /// Empty lines and those that begin with `#` are comments. A report of a new failure prints its
    /// line.
    ///
    /// A relative path begins at the present directory, which is that of the package in `cargo
    /// test`. A line that passes, but with choices that do not occur any more, is reported on the
    /// standard error stream. A file that cannot be read, or with a damaged line, panics. With
    /// `PIRN_SIM_TRACE` or [`replay`](Campaign::replay) the file is not read.
    ///
    /// # Examples
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("pirn-sim-{}", std::process::id()));
    /// # std::fs::create_dir_all(&directory).unwrap();
    /// # let path = directory.join("bank.runs");
    /// std::fs::write(&path, "# A lost update.\n1:0:1.2>2 panicked: src/bank.rs:7:5: too few\n");
    /// pirn_sim::campaign().corpus(&path).runs(10).check(|| drop(pirn::spawn(|| ()).join()));
    /// # std::fs::remove_dir_all(&directory).unwrap();
    /// ```
    pub fn corpus(mut self, path: impl Into<PathBuf>) -> Campaign {
        self.corpus = Some(path.into());
        self
    }

    /// Calls `body` once for each run, until a run fails or the campaign ends.
    ///
    /// Each call is on a fiber of a runtime with one worker and virtual time, so `pirn::spawn`
    /// works in it. Everything that the runs change is to be created in `body`.
    ///
    /// # Panics
    /// With a report, if a run fails. If an environment variable has a wrong value, the corpus
    /// cannot be used, or the system does not start a thread.
    ///
    /// # Cancellation
    /// Not an interruption point. Blocks a plain thread, and parks a fiber; with several
    /// [`jobs`](Campaign::jobs) blocks the thread of the fiber.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    ///
    /// use pirn::sync::Mutex;
    ///
    /// pirn_sim::campaign().runs(100).check(|| {
    ///     let count = Arc::new(Mutex::new(0));
    ///     let other = Arc::clone(&count);
    ///     let fiber = pirn::spawn(move || *other.lock() += 1);
    ///     *count.lock() += 1;
    ///     fiber.join().unwrap();
    ///     assert_eq!(*count.lock(), 2);
    /// });
    /// ```
    #[track_caller]
    pub fn check(self, body: impl Fn() + Send + Sync + 'static) {
        if let Some(failure) = self.find(body) {
            panic!("{failure}");
        }
    }

    /// As [`check`](Campaign::check), but returns the failure.
    ///
    /// # Panics
    /// If an environment variable has a wrong value, the corpus cannot be used, or the system does
    /// not start a thread.
    ///
    /// # Cancellation
    /// As [`check`](Campaign::check).
    ///
    /// # Examples
    /// ```
    /// assert!(pirn_sim::campaign().runs(10).find(|| ()).is_none());
    /// ```
    #[must_use]
    pub fn find(self, body: impl Fn() + Send + Sync + 'static) -> Option<Failure> {
        self.explore(body).failure
    }

    /// As [`check`](Campaign::check), but returns what the campaign has done.
    ///
    /// # Panics
    /// If an environment variable has a wrong value, the corpus cannot be used, or the system does
    /// not start a thread.
    ///
    /// # Cancellation
    /// As [`check`](Campaign::check).
    ///
    /// # Examples
    /// ```
    /// use pirn_sim::Strategy;
    ///
    /// let search = pirn_sim::campaign().strategy(Strategy::Exhaustive { preemptions: 1 });
    /// let outcome = search.explore(|| drop(pirn::spawn(|| ()).join()));
    /// assert!(outcome.complete && outcome.failure.is_none());
    /// println!("{} schedules", outcome.runs);
    /// ```
    #[must_use]
    pub fn explore(mut self, body: impl Fn() + Send + Sync + 'static) -> Outcome {
        let body: Body = Arc::new(body);
        // A clone of the campaign has the same pulse.
        let test = format!("'{}' ({})", self.test, self.at);
        self.pulse = Arc::new(Pulse::new(test));
        let _watchdog = self.watchdog();
        let replay = variable("PIRN_SIM_TRACE").or(self.replay.clone());
        let seed = variable("PIRN_SIM_SEED").or(self.seed);
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        let mut outcome = match replay {
            Some(trace) => Outcome {
                runs: 1,
                complete: false,
                failure: self.follow(&body, &trace),
            },
            None => match self.recall(&body) {
                Some(failure) => Outcome {
                    runs: 0,
                    complete: false,
                    failure: Some(failure),
                },
                None => self.try_seeds(&body, seed),
            },
        };
        outcome.failure = outcome.failure.map(|failed| self.examine(&body, failed));
        outcome
    }

    /// Returns a copy for another thread.
    pub(crate) fn another(&self) -> Campaign {
        Campaign {
            pulse: Arc::new(self.pulse.another()),
            ..self.clone()
        }
    }

    /// Starts a watchdog of the runs on one thread.
    pub(crate) fn watchdog(&self) -> Watchdog {
        Watchdog::new(Arc::clone(&self.pulse), self.stuck)
    }

    /// Keeps a failure for the report of a later run that has no end.
    pub(crate) fn note(&self, failed: &Failure) {
        self.pulse.found(failed.brief());
    }

    /// Repeats, shrinks and explains a failure.
    fn examine(&self, body: &Body, mut failed: Failure) -> Failure {
        if matches!(failed.verdict, Verdict::NeverMet(_)) {
            failed.repeats = true;
            return failed;
        }
        self.note(&failed);
        let verdict = failed.verdict.clone();
        let like = |ran: &Ran| {
            let found = ran.verdict.as_ref();
            found.is_some_and(|found| found.is_like(&verdict))
        };
        let repeats =
            (0..2).all(|_| like(&self.once(body, &failed.trace, Also::Nothing)));
        // A run without an end is not shrunk: each attempt takes as many choices.
        if repeats && !matches!(verdict, Verdict::Endless(_)) {
            let shrunk = self.shrunk(body, &failed.trace, like);
            failed.trace = shrunk.trace;
            failed.is_minimal = shrunk.is_minimal;
            failed.needs_seed = shrunk.needs_seed;
        }
        self.explain(body, &mut failed, repeats, like);
        if let Some(directory) = env::var_os("PIRN_SIM_OUT") {
            let written = output::write(&failed, Path::new(&directory));
            let said = |error| format!("{}: {error}", directory.display());
            failed.page = Some(written.map_err(said));
        }
        failed
    }

    /// Makes the runs of the corpus.
    fn recall(&self, body: &Body) -> Option<Failure> {
        let path = self.corpus.as_ref()?;
        let mut runner = None;
        for Entry { line, trace } in corpus::read(path) {
            let followed = Arc::new(AtomicUsize::new(0));
            let at = format!("{}:{line}", path.display());
            let (test, place, count) = (&self.test, &at, trace.deviations.len());
            let ran = run_in(&mut runner, body, || {
                self.replayed(Replay::new(&trace).counting(&followed), &trace)
            });
            if let Some(verdict) = ran.verdict {
                let mut failure =
                    self.failure(1, trace.seed, verdict, ran.trace, ran.escapes);
                failure.line = Some(at);
                failure.is_by_seed = false;
                return Some(failure);
            }
            // ORDERING: Relaxed: the run has ended.
            let missed = count - followed.load(Ordering::Relaxed);
            if missed > 0 {
                eprintln!(
                    "pirn-sim: '{test}': {place} is stale: {missed} of its {count} choices do not \
                     occur any more, so it passes; delete the line, or find the failure anew"
                );
            }
        }
        None
    }

    /// Shrinks a trace that fails.
    fn shrunk(&self, body: &Body, trace: &Trace, like: impl Fn(&Ran) -> bool) -> Shrunk {
        let mut leaked = 0;
        let mut runner = None;
        shrink(trace.clone(), |shorter, possible| {
            if leaked == LEAKS {
                return None;
            }
            let ran = run_in(&mut runner, body, || Plan {
                also: match possible {
                    true => Also::Possible,
                    false => Also::Nothing,
                },
                ..self.replayed(Replay::new(shorter), shorter)
            });
            leaked += u32::from(runner.is_none());
            Some(Tried {
                fails: like(&ran),
                trace: ran.trace,
                possible: ran.possible,
            })
        })
    }

    /// Explains a failure: repeats its run twice, without places and then with them.
    fn explain(
        &self,
        body: &Body,
        failed: &mut Failure,
        repeats: bool,
        like: impl Fn(&Ran) -> bool,
    ) {
        let first = self.once(body, &failed.trace, Also::Turns(HashSet::new()));
        let stuck = Stuck::new(&first.fibers, &first.stuck);
        let panic = first.first_panic.as_ref().map(|it| it.1);
        let panic = panic.filter(|at| *at < first.turns.list.len());
        let places = explain::shown(&first.turns, &stuck, panic, diagram::ROWS);
        let ran = self.once(body, &failed.trace, Also::Turns(places));
        failed.repeats = repeats && like(&first) && like(&ran) && first.hash == ran.hash;
        if !failed.repeats {
            return;
        }
        let scene = Scene::new(&ran.turns, &ran.fibers, &ran.stuck, self.at.file());
        failed.explained = scene.explain(&ran.stuck, panic);
        failed.escapes = ran.escapes;
        failed.diagram = Diagram::new(&scene, &ran.stuck, ran.first_panic.as_ref());
        failed.first_panic = ran.first_panic.map(|(message, _)| message);
        failed.verdict = match ran.verdict {
            Some(Verdict::Deadlock(_)) => {
                Verdict::Deadlock(failed.explained.stuck.clone())
            }
            Some(verdict) => verdict,
            None => return,
        };
    }

    /// Makes runs with the seeds from `first` on.
    fn try_seeds(&self, body: &Body, first: u64) -> Outcome {
        let most = variable("PIRN_SIM_RUNS").or(self.runs).unwrap_or(RUNS);
        let time = variable("PIRN_SIM_TIME").map(Duration::from_secs);
        let time = time.or(self.time).unwrap_or(TIME);
        let jobs = variable("PIRN_SIM_JOBS").unwrap_or(self.jobs);
        let begun = Instant::now();
        // The bounds on a search are its own.
        let (most, time) = match self.strategy {
            Strategy::Exhaustive { .. } => (
                self.runs.unwrap_or(u64::MAX),
                self.time.unwrap_or(Duration::MAX),
            ),
            _ => (most, time),
        };
        // The canonical schedule, for the number of choices. A number that depended on earlier runs
        // would change what a seed means.
        let ran = self.once(body, &Trace::default(), Also::Nothing);
        if let Some(verdict) = ran.verdict {
            let failure = self.failure(1, first, verdict, ran.trace, ran.escapes);
            return Outcome {
                runs: 1,
                complete: false,
                failure: Some(failure),
            };
        }
        let limits = Limits { most, begun, time };
        let made = Series::new(self, body, first, limits, ran.choices).make(jobs);
        let mut sometimes = ran.sometimes;
        for (name, (at, is_met)) in made.sometimes {
            sometimes.entry(name).or_insert((at, false)).1 |= is_met;
        }
        let never = || {
            let verdict = self.never_met(&sometimes)?;
            let trace = Trace::default();
            Some(self.failure(made.runs, first, verdict, trace, Escapes::default()))
        };
        Outcome {
            runs: made.runs,
            complete: made.complete,
            failure: made.failure.or_else(never),
        }
    }

    /// Returns the properties that no run has met, if there are any.
    fn never_met(&self, sometimes: &Sometimes) -> Option<Verdict> {
        let is_part = ["PIRN_SIM_SEED", "PIRN_SIM_RUNS"];
        if is_part.iter().any(|name| env::var_os(name).is_some()) {
            return None;
        }
        let evaluated = sometimes.iter().filter(|(_, (_, is_met))| !is_met);
        let evaluated = evaluated.map(|(name, (at, _))| format!("'{name}' ({at})"));
        let unknown = self
            .reaches
            .iter()
            .filter(|it| !sometimes.contains_key(*it));
        let unknown = unknown.map(|name| format!("'{name}', which was never evaluated"));
        let names: Vec<_> = evaluated.chain(unknown).collect();
        (!names.is_empty()).then_some(Verdict::NeverMet(names))
    }

    /// Reports a run that chose otherwise when it was repeated: the schedule does not decide alone.
    #[cold]
    pub(crate) fn report_difference(&self, run: u64, escapes: Escapes) {
        let known = match escapes.any() {
            true => format!("; it had {escapes}"),
            false => String::new(),
        };
        eprintln!(
            "pirn-sim: '{}': run {run} took another way when it was repeated; the test depends on \
             something else than the schedule, such as a static, a clock or the order of a \
             HashMap, and its failures may not replay{known}",
            self.test
        );
    }

    /// Makes the run of a trace.
    fn follow(&self, body: &Body, trace: &Trace) -> Option<Failure> {
        let followed = Arc::new(AtomicUsize::new(0));
        let ran = run_in(&mut None, body, || {
            self.replayed(Replay::new(trace).counting(&followed), trace)
        });
        let Some(verdict) = ran.verdict else {
            // ORDERING: Relaxed: the run has ended.
            let (count, followed) =
                (trace.deviations.len(), followed.load(Ordering::Relaxed));
            if followed < count {
                eprintln!(
                    "pirn-sim: '{}': the trace '{trace}' is stale: {} of its {count} choices do \
                     not occur, so that it passes proves nothing; find the failure anew",
                    self.test,
                    count - followed
                );
            }
            return None;
        };
        let failure = self.failure(1, trace.seed, verdict, ran.trace, ran.escapes);
        Some(Failure {
            is_by_seed: false,
            ..failure
        })
    }

    /// Makes the run of a trace in a runtime of its own.
    fn once(&self, body: &Body, trace: &Trace, also: Also) -> Ran {
        run_in(&mut None, body, || Plan {
            also,
            ..self.replayed(Replay::new(trace), trace)
        })
    }

    /// Returns the plan of a run that follows `trace`.
    pub(crate) fn replayed(&self, replay: Replay, trace: &Trace) -> Plan {
        Plan {
            repeat: Repeat::Trace(trace.clone()),
            ..self.plan(Box::new(replay), trace.seed)
        }
    }

    /// Returns the plan of a run that its seed decides.
    pub(crate) fn plan(
        &self,
        strategy: Box<dyn pirn::dev::sim::Choose>,
        seed: u64,
    ) -> Plan {
        Plan {
            strategy,
            seed,
            most: self.choices,
            also: Also::Nothing,
            repeat: Repeat::Seed(seed),
            pulse: Arc::clone(&self.pulse),
        }
    }

    /// Returns true if a run depends on no other one.
    pub(crate) fn is_by_seed(&self) -> bool {
        let learns = matches!(
            self.strategy,
            Strategy::Guided | Strategy::Exhaustive { .. }
        );
        !learns
    }

    pub(crate) fn failure(
        &self,
        run: u64,
        seed: u64,
        verdict: Verdict,
        trace: Trace,
        escapes: Escapes,
    ) -> Failure {
        Failure {
            test: self.test.clone(),
            at: self.at,
            run,
            line: None,
            seed,
            verdict,
            trace,
            explained: Explained::default(),
            diagram: Diagram::default(),
            first_panic: None,
            is_minimal: false,
            needs_seed: false,
            is_by_seed: self.is_by_seed(),
            repeats: false,
            escapes,
            corpus: self.corpus.clone(),
            page: None,
        }
    }
}

/// Makes a run in `runner`, or a new one. Keeps the runner, unless the run has left fibers in it.
fn run_in(
    runner: &mut Option<Runner>,
    body: &Body,
    plan: impl FnOnce() -> Plan + Send,
) -> Ran {
    let used = runner.take().filter(|it| !it.is_old);
    let used = used.unwrap_or_else(Runner::new);
    let (ran, clean) = used.drive(body, |driver: &mut Driver<'_>| driver.run(plan()));
    *runner = clean;
    ran
}

/// The outcome of a campaign; see [`Campaign::explore`].
///
/// # Examples
/// ```
/// let outcome = pirn_sim::campaign().runs(10).explore(|| ());
/// assert_eq!(outcome.runs, 10);
/// assert!(!outcome.complete, "only a search knows that it has run all schedules");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of the run that has failed, or else the number of seeds that were tried. 0 if a
    /// line of the corpus has failed, 1 for a replay, or if the canonical schedule has failed. Runs
    /// that repeat, shrink and explain a failure do not count.
    pub runs: u64,
    /// All schedules of [`Strategy::Exhaustive`] have run, and each did what its choices decided: the
    /// test depends on nothing else. False if there were calls of files,
    /// sockets or `blocking`, or wakes by other threads, and if a fiber had operations in a poll, or
    /// while it unwound, where no other fiber can run.
    pub complete: bool,
    /// The first failure.
    pub failure: Option<Failure>,
}

/// Returns the value of an environment variable, if it is set.
///
/// # Panics
/// If the value cannot be used.
fn variable<T: FromStr<Err: fmt::Display>>(name: &str) -> Option<T> {
    let value = env::var_os(name)?;
    let parsed = value.to_str().ok_or("no UTF-8".to_owned());
    let parsed = parsed.and_then(|text| text.parse().map_err(|e: T::Err| e.to_string()));
    Some(parsed.unwrap_or_else(|why| {
        let value = value.display();
        panic!("{name}={value}: cannot use this value: {why}; see `pirn_sim::campaign`")
    }))
}

/// The default limit on the time to the next choice, as in `runtime::test`.
const STUCK: Duration = Duration::from_secs(10);

/// The default number of runs, their time, and the choices of a run. Arbitrary: a second or two for
/// a small test.
const RUNS: u64 = 1_000;
const TIME: Duration = Duration::from_secs(10);
const CHOICES: u64 = 1_000_000;

/// After so many runtimes have been left behind, each with fibers and a thread, shrinking ends.
/// Arbitrary.
const LEAKS: u32 = 200;
