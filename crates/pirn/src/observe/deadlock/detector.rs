//! The watch: one thread of the process that detects fibers that can never resume.
//!
//! Owns: when it looks, what counts as a standstill, and what is done about a deadlock. Does not
//! own: the cycles (`search`), or what is known of plain threads (`fiber::thread_registry`).
//!
//! It looks again a second after each look while there is something to see, and reports two kinds
//! (for those of a test see `trial`):
//!
//! * a *cycle* of fibers that hold locks, join, or wait for scopes, found by two passes in a row
//!   with the same waits, whatever else runs (`search`);
//! * *standstill*: fibers wait, and two looks in a row, between which nothing ran, show that every
//!   worker sleeps with no timer armed. Besides, every thread of the process is a worker, an idle
//!   one of the library's own, or sleeps here without a time limit. A thread that sleeps elsewhere,
//!   or is in `diag::external_wait`, may still wake a fiber. It is no standstill either if anything
//!   waits for a descriptor, or if a fiber waits for a stack, which is reported separately.
//!
//! | state | period | until |
//! |---|---|---|
//! | watching | 1 s | two looks in a row show that nothing has run, the pass was complete or the tenth in a row that was not, it has found no new cycle, and no watched test has fibers |
//! | stopped | none | a worker or a plain thread goes to sleep, or wakes (`thread_registry::attend`) |
//!
//! So it causes no wake-ups in an idle process. Before it stops, it waits until the workers that
//! its pass woke sleep again. LIVENESS: it announces that it stops and then looks whether anything
//! has run since its last look. Anything that begins later rings. A ring may be missed if both
//! happen at the same time; the next sleep or wake makes up for it, and only a report is delayed.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use super::response::Deadlock;
use super::search::Search;
use super::trial::{self, EXIT_CODE, Trial};
use crate::fiber::state_names::State;
use crate::fiber::thread_registry;
use crate::observe::report::all_fibers;
use crate::readiness;
use crate::report::cycle::Cycle;
use crate::report::fiber_info::FiberInfo;
use crate::sched::observer::Observer;
use crate::sched::pool::registry::pools;
use crate::sched::pool::shared::Pool;
use crate::shim::{self, StaticLock};
use crate::sys;

/// Time between two looks. Arbitrary: a report a second late does no harm.
const PERIOD: Duration = Duration::from_secs(1);

/// Looks in a row with an incomplete pass, while nothing runs, after which the detector asks no
/// more. Arbitrary: a worker that sits in a system call for longer is not waited for.
const AGAIN: u32 = 10;

/// The number of pauses in which workers that were asked go to sleep: 1, 2, 4… ms, 127 ms in all.
/// Arbitrary.
const SETTLING: u32 = 7;

/// True once the thread has been created.
static STARTED: StaticLock<bool> = StaticLock::new(false);

/// The settings of the watch for one pool.
pub(in crate::observe) struct Detector {
    deadlock: Deadlock,
    /// The pool belongs to a test.
    trial: Option<Trial>,
}

impl Detector {
    pub(in crate::observe) fn new(deadlock: Deadlock, trial: Option<Trial>) -> Detector {
        Detector { deadlock, trial }
    }

    /// Returns the settings for `pool`.
    fn of(pool: &Pool) -> &Detector {
        pool.observer()
    }

    fn is_watched(&self) -> bool {
        self.deadlock != Deadlock::Off
    }

    /// Returns the test that the pool belongs to, if it is watched.
    fn trial(&self) -> Option<&Trial> {
        self.trial.as_ref().filter(|_| self.is_watched())
    }
}

impl Observer for Detector {
    fn started(&self) {
        if self.is_watched() && shim::WATCHING_PAYS {
            start();
        }
    }
}

/// Returns why the test that this pool belongs to fails, if it does.
pub(crate) fn verdict(pool: &Pool) -> Option<&str> {
    Detector::of(pool).trial.as_ref()?.verdict()
}

/// Starts the thread that watches, unless there is one.
fn start() {
    let mut started = STARTED.lock();
    if !*started {
        // If no thread can be created, nothing is watched until the next pool is created.
        *started = shim::thread::spawn("pirn-watch".to_owned(), watch).is_ok();
    }
    drop(started);
    thread_registry::attend();
}

/// The findings of one look at all pools.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    /// The number of switches to fibers, in all.
    dispatched: u64,
    pools: usize,
    /// Nothing will ever happen by itself.
    still: bool,
    /// As `still`, except for what a main thread may do that has never waited here.
    still_but_main: bool,
}

impl Look {
    fn take(pools: &[Arc<Pool>]) -> Look {
        // A thread that drives a pool is one of the program's own.
        let with_threads = || pools.iter().filter(|pool| !pool.is_by_hand());
        let remotes = || with_threads().flat_map(|pool| pool.remotes());
        let mut threads = 1;
        let mut asleep = true;
        for remote in remotes() {
            if remote.has_thread() {
                threads += 1;
                asleep &= remote.sleeps_for_good();
            }
        }
        threads += pools.iter().filter(|pool| pool.is_monitored()).count();
        asleep &= pools.iter().all(|pool| pool.stack_waiters() == 0);
        asleep &= thread_registry::externals() == 0 && !readiness::has_waiters();
        let (awake, main) = unknown(threads);
        let quiet = |unknown| {
            asleep && awake == Some(unknown) && !thread_registry::has_external_wakers()
        };
        Look {
            dispatched: remotes().map(|r| r.dispatched()).sum(),
            pools: pools.len(),
            still: quiet(0),
            still_but_main: quiet(1) && main,
        }
    }
}

/// Returns how many threads of the process are neither `own` nor known to sleep here for good;
/// `None` if the system does not report it. Also returns whether the main thread is one of these
/// and has never waited here.
fn unknown(own: usize) -> (Option<usize>, bool) {
    let plain_threads = thread_registry::plain_threads();
    let main = plain_threads
        .iter()
        .all(|plain_thread| plain_thread.name.as_deref() != Some("main"));
    let asleep = plain_threads
        .iter()
        .filter(|plain_thread| plain_thread.sleep == thread_registry::Sleep::Endless);
    let known = own + thread_registry::idle_service_threads() + asleep.count();
    let unknown = sys::threads().and_then(|all| all.checked_sub(known));
    (unknown, main)
}

/// The body of the thread.
fn watch() {
    let mut last = None;
    let mut search = Search::new();
    let mut reported = HashSet::new();
    let mut again = 0;
    let mut standstill_reported = false;
    loop {
        let seen = pools();
        let look = Look::take(&seen);
        let unmoved = last.as_ref() == Some(&look);
        standstill_reported &= unmoved;
        search.begin(seen.iter().filter(|pool| is_watched(pool)), unmoved);
        drop(seen);
        let complete = search.go_on(unmoved);
        let pools = pools();
        for cycle in search.take_confirmed() {
            if !reported.contains(&cycle) && report_cycle(&pools, &cycle) {
                reported.insert(cycle);
            }
        }
        again = if complete || !unmoved { 0 } else { again + 1 };
        // A cycle that one pass has found so far is looked for again before a standstill is
        // reported.
        let is_new = search.seen().any(|cycle| !reported.contains(cycle));
        if !unmoved || is_new || (0 < again && again < AGAIN) {
            last = Some(look);
            trial::look(trials(&pools), false);
            drop(pools);
            thread_registry::await_change(Some(shim::now() + PERIOD));
            continue;
        }
        if look.still && !standstill_reported {
            standstill_reported = true;
            report_standstill(&pools);
        }
        if trial::look(trials(&pools), look.still || look.still_but_main) {
            last = Some(look);
            drop(pools);
            thread_registry::await_change(Some(shim::now() + PERIOD));
            continue;
        }
        let_workers_sleep(&pools);
        drop(pools);
        last = None;
        thread_registry::stop();
        if Look::take(&self::pools()) == look {
            thread_registry::await_change(None);
        } else {
            thread_registry::attend();
        }
    }
}

/// Waits until the workers that the pass woke sleep again, for 127 ms at most: a worker may run a
/// fiber. Otherwise their sleep would ring after the stop, and the next pass would wake them again.
fn let_workers_sleep(pools: &[Arc<Pool>]) {
    let workers = || pools.iter().flat_map(|pool| pool.remotes());
    let are_awake = || workers().any(|it| it.has_thread() && !it.is_asleep());
    for exponent in 0..SETTLING {
        // First, for a worker that has announced its sleep and is about to ring.
        let pause = Duration::from_millis(1 << exponent);
        thread_registry::await_change(Some(shim::now() + pause));
        if !are_awake() {
            return;
        }
    }
}

fn is_watched(pool: &Pool) -> bool {
    Detector::of(pool).is_watched()
}

/// Returns the tests that are watched, with their pools.
fn trials(pools: &[Arc<Pool>]) -> impl Iterator<Item = trial::Watched<'_>> {
    pools
        .iter()
        .filter_map(|pool| Some((pool, Detector::of(pool).trial()?)))
}

/// Returns the fibers of these pools for which `keep` is true, if the pools are watched, and whether
/// all of their workers have answered.
fn watched_fibers(
    pools: &[Arc<Pool>],
    keep: &dyn Fn(&FiberInfo) -> bool,
) -> (Vec<FiberInfo>, bool) {
    let (mut fibers, mut complete) = (Vec::new(), true);
    let has_some = |pool: &&Arc<Pool>| pool.remotes().any(|r| r.settled() > 0);
    for pool in pools
        .iter()
        .filter(|pool| is_watched(pool))
        .filter(has_some)
    {
        let (found, all) = all_fibers(pool, keep);
        fibers.extend(found);
        complete &= all;
    }
    (fibers, complete)
}

/// Whether a deadlock ends the process.
fn ends_process(pools: &[Arc<Pool>]) -> bool {
    let aborts = |pool: &Arc<Pool>| Detector::of(pool).deadlock == Deadlock::Abort;
    pools.iter().any(aborts)
}

/// Reports a cycle. Returns false, without a report, if one of its fibers is described with another
/// wait, or by no worker though all have answered.
fn report_cycle(pools: &[Arc<Pool>], cycle: &Cycle) -> bool {
    let ids: HashSet<u64> = cycle.iter().map(|(id, _)| *id).collect();
    let is_in = |fiber: &FiberInfo| ids.contains(&fiber.id.number());
    let (fibers, complete) = watched_fibers(pools, &is_in);
    let by_id: HashMap<u64, &FiberInfo> = fibers
        .iter()
        .map(|fiber| (fiber.id.number(), fiber))
        .collect();
    let n = cycle.len();
    let mut text = match n {
        1 => "a fiber waits for itself\n".to_owned(),
        n => format!("{n} fibers wait for each other\n"),
    };
    for (id, wait) in cycle {
        let _ = match by_id.get(id) {
            Some(fiber) if fiber.wait == *wait => write!(text, "{fiber}"),
            None if !complete => {
                writeln!(text, "    fiber {id}, described by no worker")
            }
            _ => return false,
        };
    }
    if !trial::fails_for_cycle(trials(pools), is_in, &text) {
        report(&format!("pirn: deadlock: {text}"), ends_process(pools));
    }
    true
}

/// Reports all fibers but those of tests, which are reported separately.
fn report_standstill(pools: &[Arc<Pool>]) {
    let others = pools
        .iter()
        .filter(|pool| Detector::of(pool).trial().is_none());
    let others: Vec<Arc<Pool>> = others.map(Arc::clone).collect();
    let waits =
        |fiber: &FiberInfo| fiber.state == State::Parked && fiber.deadline.is_none();
    let (fibers, _) = watched_fibers(&others, &waits);
    if fibers.is_empty() {
        return;
    }
    let count = match fibers.len() {
        1 => "1 fiber waits".to_owned(),
        n => format!("{n} fibers wait"),
    };
    let mut text = format!(
        "pirn: deadlock: {count}, no thread of the process is left to wake {}\n",
        if fibers.len() == 1 { "it" } else { "them" }
    );
    trial::list(&fibers, &mut text);
    report(&text, ends_process(&others));
}

fn report(text: &str, abort: bool) {
    sys::report_whole(text.as_bytes());
    if abort {
        process::exit(EXIT_CODE);
    }
}
