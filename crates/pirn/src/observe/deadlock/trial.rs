//! Tests that cannot end: the verdict of the watch on the runtime of a
//! [`test`](crate::runtime::test).
//!
//! Owns: the conditions of a verdict, its text, and how the test fails. Does not own: when the
//! watch looks, nor what it sees (`detector`).
//!
//! | the watch sees | verdict |
//! |---|---|
//! | a cycle of fibers, one of them of the test | the test fails |
//! | a standstill, in two looks a second apart (see below) | the test fails |
//! | the worker has not dispatched for the limit, and its thread waits in `futex` in two looks | the process ends |
//! | nothing else has run for the limit | a report, once |
//!
//! A standstill is the one of `detector`, except for one thread: the main thread may be awake, or
//! sleep elsewhere, if it has never waited in this library. That is the thread of a test harness,
//! which waits for the test. Any other thread unknown to the library may hold what wakes a fiber,
//! so there is no verdict, only the report.
//!
//! A test fails in two steps. First the report is written and the runtime is cancelled. So fibers
//! see an interrupt, end, and release what they have borrowed; then the caller of `test` panics. A
//! caller that unwound while fibers are parked would free what they borrow. So, second, if they do
//! not end, since `lock` for instance is no interruption point, the process ends with exit
//! code 124.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::response::Deadlock;
use crate::base::clock;
use crate::fiber::state_names::State;
use crate::observe::report::all_fibers;
use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::shim::{self, Mutex};
use crate::sys::{self, Activity, is_futex};

/// The exit code of a process that is ended for a deadlock, the same as that of `timeout(1)`.
pub(super) const EXIT_CODE: i32 = 124;

/// Fibers that a report lists. Arbitrary: a screen or two.
const LISTED: usize = 50;

/// The shortest time without a dispatch after which the fibers of a failed test count as stuck;
/// twice as long after the failure at the earliest. Nanoseconds; arbitrary: the period of the
/// watch.
const REST: u64 = 1_000_000_000;

/// The watch's record of a test.
pub(crate) struct Trial {
    /// Which test: its thread's name and the line of the call.
    name: String,
    seed: u64,
    limit: u64,
    deadlock: Deadlock,
    progress: Mutex<Progress>,
    /// Why the test fails.
    verdict: OnceLock<String>,
}

/// The state at the last look of the watch. Times are in nanoseconds of the real clock.
#[derive(Default)]
struct Progress {
    /// Dispatches of the worker.
    dispatched: u64,
    /// Since when that has not changed.
    since: u64,
    /// A report on that was written.
    reported: bool,
    /// The thread was in `futex`.
    locked: bool,
    /// When the test failed; 0 before that.
    failed: u64,
}

impl Trial {
    pub(crate) fn new(
        name: String,
        seed: u64,
        limit: Duration,
        deadlock: Deadlock,
    ) -> Trial {
        Trial {
            name,
            seed,
            limit: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
            deadlock,
            progress: Mutex::new(Progress::default()),
            verdict: OnceLock::new(),
        }
    }

    /// Returns why the test fails, if it does.
    pub(super) fn verdict(&self) -> Option<&str> {
        self.verdict.get().map(String::as_str)
    }
}

/// A test that is watched, and its pool.
pub(super) type Watched<'a> = (&'a Arc<Pool>, &'a Trial);

/// Looks at every running test, and gives the verdicts that are due. `still`: nothing will ever
/// happen by itself in the process. Returns whether it should look again though nothing happens.
pub(super) fn look<'a>(trials: impl Iterator<Item = Watched<'a>>, still: bool) -> bool {
    let mut again = false;
    for (pool, trial) in trials {
        let remote = pool.remote(0);
        if remote.settled() > 0 {
            again = true;
            trial.look(pool, remote, still);
        }
    }
    again
}

/// Fails the test that a fiber of a cycle belongs to. False if no fiber of the cycle belongs to
/// one. `text` describes them.
pub(super) fn fails_for_cycle<'a>(
    trials: impl Iterator<Item = Watched<'a>>,
    is_in_cycle: impl Fn(&FiberInfo) -> bool,
    text: &str,
) -> bool {
    for (pool, trial) in trials {
        let (fibers, _) = all_fibers(pool, &is_in_cycle);
        if !fibers.is_empty() {
            trial.fail(pool, text);
            return true;
        }
    }
    false
}

impl Trial {
    fn look(&self, pool: &Arc<Pool>, remote: &Remote, still: bool) {
        let now = clock::now();
        let (silent, reported, failed) = {
            let mut progress = self.progress.lock();
            let dispatched = remote.dispatched();
            if dispatched != progress.dispatched || progress.since == 0 {
                progress.dispatched = dispatched;
                progress.since = now;
                progress.reported = false;
                progress.locked = false;
            }
            (now - progress.since, progress.reported, progress.failed)
        };
        let waits = remote.thread().activity() == Some(Activity::Waits);
        if failed != 0 {
            let rests = waits && silent >= REST && now - failed >= 2 * REST;
            if rests || now - failed >= self.limit.max(2 * REST) {
                let (fibers, _) = all_fibers(pool, &|_| true);
                self.end_process(
                    "its fibers did not end when they were cancelled",
                    &fibers,
                );
            }
        } else if still && remote.sleeps_for_good() {
            self.stand_still(pool);
        } else if silent >= self.limit {
            self.report_silence(pool, remote, waits, reported);
        }
    }

    fn stand_still(&self, pool: &Arc<Pool>) {
        let waits = |fiber: &FiberInfo| fiber.state == State::Parked;
        let (fibers, _) = all_fibers(pool, &waits);
        if !fibers.is_empty() {
            let mut text = match fibers.len() {
                1 => "1 fiber waits, and no thread is left to wake it\n".to_owned(),
                n => format!("{n} fibers wait, and no thread is left to wake them\n"),
            };
            list(&fibers, &mut text);
            self.fail(pool, &text);
        }
    }

    /// Reports that nothing has run for the limit.
    fn report_silence(
        &self,
        pool: &Arc<Pool>,
        remote: &Remote,
        waits: bool,
        reported: bool,
    ) {
        let asleep = remote.is_asleep();
        let call = remote.thread().call();
        let in_futex = !asleep && waits && call.is_some_and(is_futex);
        let locked = {
            let mut progress = self.progress.lock();
            std::mem::replace(&mut progress.locked, in_futex) && in_futex
        };
        if in_futex && !locked {
            // The next look shows whether it is still there.
            return;
        }
        if reported && !locked {
            return;
        }
        self.progress.lock().reported = true;
        let limit = self.limit / 1_000_000;
        let running = (!asleep).then(|| remote.describe_running(0)).flatten();
        if let Some(running) = running {
            let keeps = if locked {
                "has blocked the runtime's only thread, in a lock or a channel of `std`,"
            } else if waits {
                "has blocked the runtime's only thread"
            } else {
                "has computed"
            };
            let what = format!("a fiber {keeps} for {limit} ms");
            match locked {
                true => self.end_process(&what, &[running]),
                false => self.report(&what, &[running]),
            }
        } else {
            let (fibers, _) = all_fibers(pool, &|_| true);
            let what = format!(
                "nothing has run for {limit} ms of real time; it waits for the system, or for \
                 threads that pirn does not know"
            );
            self.report(&what, &fibers);
        }
    }

    /// Fails the test: records the reason, writes the report and cancels the runtime. `text` is the
    /// reason; its first line is the head.
    fn fail(&self, pool: &Arc<Pool>, text: &str) {
        let head = format!("deadlock in the test {}: {}", self.name, first_line(text));
        let text = format!(
            "deadlock in the test {}: {text}{}",
            self.name,
            self.repeat()
        );
        if self.verdict.set(text.clone()).is_err() {
            return;
        }
        self.progress.lock().failed = clock::now();
        if self.deadlock == Deadlock::Abort {
            write(&format!("pirn: {text}\n"));
            process::exit(EXIT_CODE);
        }
        write(&format!("pirn: {head}; its fibers are cancelled\n"));
        let pool = Arc::clone(pool);
        // On a thread of its own: callbacks of tokens are the user's code.
        let cancel = move || pool.cancel();
        if shim::thread::spawn("pirn-test-end".to_owned(), cancel).is_err() {
            self.end_process("there is no thread to cancel its fibers", &[]);
        }
    }

    fn repeat(&self) -> String {
        format!("PIRN_SEED={} reproduces this", self.seed)
    }

    fn report(&self, what: &str, fibers: &[FiberInfo]) {
        let mut text = format!("pirn: the test {}: {what}\n", self.name);
        list(fibers, &mut text);
        let _ = writeln!(text, "pirn: {}", self.repeat());
        write(&text);
    }

    fn end_process(&self, what: &str, fibers: &[FiberInfo]) -> ! {
        self.report(what, fibers);
        write("pirn: the process ends, since fibers that are stuck cannot be unwound\n");
        process::exit(EXIT_CODE);
    }
}

/// Lists the fibers, those that are alike once.
pub(super) fn list(fibers: &[FiberInfo], text: &mut String) {
    let kinds = by_kind(fibers);
    for alike in kinds.iter().take(LISTED) {
        let _ = write!(text, "{}", alike[0]);
        if alike.len() > 1 {
            let _ = writeln!(text, "      and {} more like it", alike.len() - 1);
        }
    }
    let left: usize = kinds.iter().skip(LISTED).map(Vec::len).sum();
    if left > 0 {
        let _ = writeln!(text, "    and {left} more");
    }
}

/// Groups fibers that have the same name, spawn line, line of the wait and awaited object. The
/// groups are in the order of their first fibers.
fn by_kind(fibers: &[FiberInfo]) -> Vec<Vec<&FiberInfo>> {
    let mut kinds: Vec<Vec<&FiberInfo>> = Vec::new();
    let mut places = HashMap::new();
    for fiber in fibers {
        let object = fiber.waits_for.as_ref().map(ToString::to_string);
        let kind = (&fiber.name, fiber.spawned_at, fiber.waits_at, object);
        let place = *places.entry(kind).or_insert(kinds.len());
        match kinds.get_mut(place) {
            Some(alike) => alike.push(fiber),
            None => kinds.push(vec![fiber]),
        }
    }
    kinds
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn write(text: &str) {
    sys::report_whole(text.as_bytes());
}
