//! The runs of a campaign with seeds that count up, on one thread or on several.
//!
//! Owns: which run has which seed, and which failure is the first one. Does not own: a run
//! (`runner`), what becomes of a failure (`campaign`).
//!
//! | state | next |
//! |---|---|
//! | runs are left | a job takes the next number, and makes that run |
//! | a run has failed | jobs take no numbers above the lowest one that has failed; they finish those below it |
//! | the number, the time or the search has ended | no job takes a number |
//!
//! Numbers are taken in order, so all runs below a failed one have begun, and the lowest failure is
//! the same for any number of jobs, unless the time ends. A search and a guide learn from each run:
//! they have one job.

use std::ops::ControlFlow;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::campaign::Campaign;
use crate::failure::Failure;
use crate::runner::{Body, Driver, Plan, Runner, is_old};
use crate::strategy::{Exhaustive, Guide, Strategy};
use crate::trace::{Replay, Sometimes};
use crate::watchdog::Repeat;

/// The runs of a campaign.
pub(crate) struct Series<'a> {
    campaign: &'a Campaign,
    body: &'a Body,
    /// The seed of the first run.
    first: u64,
    limits: Limits,
    /// The number of choices in the canonical schedule.
    expected: u64,
    search: Option<Exhaustive>,
    /// The runs that have begun, or would have if there were so many.
    next: AtomicU64,
    /// The number of the lowest run that has failed.
    lowest: AtomicU64,
    /// The search has ended.
    complete: AtomicBool,
    /// A run has chosen otherwise when it was repeated, and that is reported.
    differs: AtomicBool,
    found: Mutex<Found>,
}

/// What the runs have found.
#[derive(Default)]
struct Found {
    failure: Option<Failure>,
    sometimes: Sometimes,
}

/// What a series has done.
pub(crate) struct Made {
    pub(crate) runs: u64,
    pub(crate) complete: bool,
    pub(crate) failure: Option<Failure>,
    pub(crate) sometimes: Sometimes,
}

/// The limits of a series.
pub(crate) struct Limits {
    pub(crate) most: u64,
    pub(crate) begun: Instant,
    pub(crate) time: Duration,
}

impl<'a> Series<'a> {
    /// `expected` is the number of choices in the canonical schedule.
    pub(crate) fn new(
        campaign: &'a Campaign,
        body: &'a Body,
        first: u64,
        limits: Limits,
        expected: u64,
    ) -> Series<'a> {
        let search = match campaign.strategy {
            Strategy::Exhaustive { preemptions } => Some(Exhaustive::new(preemptions)),
            _ => None,
        };
        Series {
            campaign,
            body,
            first,
            limits,
            expected,
            search,
            next: AtomicU64::new(0),
            lowest: AtomicU64::new(u64::MAX),
            complete: AtomicBool::new(false),
            differs: AtomicBool::new(false),
            found: Mutex::default(),
        }
    }

    /// Makes the runs on `jobs` threads, of which the caller's is one.
    ///
    /// # Panics
    /// If the system does not start a thread.
    pub(crate) fn make(self, jobs: usize) -> Made {
        let learns = self.search.is_some() || self.campaign.strategy == Strategy::Guided;
        let jobs = match learns {
            true => 1,
            false => jobs.min(usize::try_from(self.limits.most).unwrap_or(jobs)),
        };
        thread::scope(|scope| {
            let mut others = Vec::new();
            for _ in 1..jobs {
                let started = thread::Builder::new()
                    .name("pirn-sim job".to_owned())
                    .spawn_scoped(scope, || {
                        let campaign = self.campaign.another();
                        let _watchdog = campaign.watchdog();
                        self.job(&campaign);
                    });
                match started {
                    Ok(other) => others.push(other),
                    Err(error) => {
                        // The others end.
                        self.stop_after(0);
                        panic!("pirn-sim: no thread: {error}");
                    }
                }
            }
            self.job(self.campaign);
            for other in others {
                if let Err(payload) = other.join() {
                    panic::resume_unwind(payload);
                }
            }
        });
        let Series {
            next,
            complete,
            found,
            limits,
            search,
            ..
        } = self;
        let Found { failure, sometimes } =
            found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let taken = next.into_inner().min(limits.most);
        Made {
            runs: failure.as_ref().map_or(taken, Failure::run),
            complete: complete.into_inner()
                && !search.is_some_and(|search| search.misses()),
            failure,
            sometimes,
        }
    }

    /// Makes runs as long as there are some.
    fn job(&self, campaign: &Campaign) {
        let _stops = StopsOthers(self);
        // Another runtime, if the virtual time of one is nearly spent.
        while Runner::new()
            .drive(self.body, |driver| self.runs_in(driver, campaign))
            .0
            .is_continue()
        {}
    }

    /// Makes runs in one runtime. Continues if another one is needed.
    fn runs_in(&self, driver: &mut Driver<'_>, campaign: &Campaign) -> ControlFlow<()> {
        let mut guide = match campaign.strategy {
            Strategy::Guided => Some(Guide::default()),
            _ => None,
        };
        loop {
            if is_old() {
                return ControlFlow::Continue(());
            }
            let Some(run) = self.take() else {
                return ControlFlow::Break(());
            };
            let seed = self.first.wrapping_add(run - 1);
            let strategy = match (&self.search, &guide) {
                (Some(search), _) => Box::new(search.clone()),
                (_, Some(guide)) => guide.make(seed, self.expected),
                _ => campaign.strategy.make(seed, self.expected),
            };
            // All runs of a search have one seed; 0 without a bound, so that choices take no time.
            let run_seed = match &self.search {
                Some(search) if search.is_reduced() => 0,
                Some(_) => self.first,
                None => seed,
            };
            let repeat = match self.campaign.is_by_seed() {
                true => Repeat::Seed(seed),
                false => Repeat::All(self.first),
            };
            let ran = driver.run(Plan {
                repeat,
                ..campaign.plan(strategy, run_seed)
            });
            if let Some(verdict) = ran.verdict {
                let failure =
                    campaign.failure(run, run_seed, verdict, ran.trace, ran.escapes);
                self.fail(failure);
                return ControlFlow::Break(());
            }
            if let Some(guide) = &mut guide {
                guide.learn(&ran.trace.deviations);
            }
            self.add_sometimes(ran.sometimes);
            if self.search.is_none() && run.is_multiple_of(AUDITED) {
                let again = driver.run(match guide {
                    Some(_) => campaign.replayed(Replay::new(&ran.trace), &ran.trace),
                    None => {
                        campaign.plan(campaign.strategy.make(seed, self.expected), seed)
                    }
                });
                // ORDERING: Relaxed: nothing is read because of it.
                if again.hash != ran.hash && !self.differs.swap(true, Ordering::Relaxed) {
                    campaign.report_difference(run, again.escapes);
                }
                if let Some(verdict) = again.verdict {
                    let failure =
                        campaign.failure(run, seed, verdict, again.trace, again.escapes);
                    self.fail(failure);
                    return ControlFlow::Break(());
                }
            }
            let Some(search) = &self.search else { continue };
            let known = search.strays();
            if ran.escapes.any() {
                search.note_escape();
            }
            if !search.advance() {
                // ORDERING: Relaxed: a search has one job.
                self.complete.store(true, Ordering::Relaxed);
            }
            if search.strays() && !known {
                campaign.report_difference(run, ran.escapes);
            }
        }
    }

    /// Takes the number of the next run, from 1; none if no more are to be made.
    fn take(&self) -> Option<u64> {
        let Limits { most, begun, time } = self.limits;
        // ORDERING: Relaxed: read by the job that writes it.
        if self.complete.load(Ordering::Relaxed) || begun.elapsed() >= time {
            return None;
        }
        // ORDERING: Relaxed: a number is for one job, whatever else it sees.
        let run = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        // ORDERING: Relaxed: at worst one run too many is made, and its failure is not the lowest.
        (run <= most.min(self.lowest.load(Ordering::Relaxed))).then_some(run)
    }

    /// Keeps the failure, if it is of the lowest run.
    fn fail(&self, failure: Failure) {
        self.stop_after(failure.run());
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let best = found.failure.as_ref();
        if best.is_none_or(|other| failure.run() < other.run()) {
            self.campaign.note(&failure);
            found.failure = Some(failure);
        }
    }

    /// Lets jobs take no numbers above `run`.
    fn stop_after(&self, run: u64) {
        // ORDERING: Relaxed: see `take`.
        self.lowest.fetch_min(run, Ordering::Relaxed);
    }

    /// Adds the properties that a run has evaluated.
    fn add_sometimes(&self, sometimes: Sometimes) {
        if sometimes.is_empty() {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, (at, is_met)) in sometimes {
            found.sometimes.entry(name).or_insert((at, false)).1 |= is_met;
        }
    }
}

/// Lets the other jobs end if this one panics.
struct StopsOthers<'a>(&'a Series<'a>);

impl Drop for StopsOthers<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop_after(0);
        }
    }
}

/// One run of so many is repeated, and compared.
const AUDITED: u64 = 64;
