//! Detects stalls. The monitor calls this.
//!
//! A worker runs one fiber as long as its count of dispatches does not change. The monitor
//! determines what waits behind that fiber without help from the worker:
//!
//! | waiting | seen from |
//! |---|---|
//! | fibers that are ready | the count of started fibers, minus that of parked ones |
//! | fibers that others have woken, or with sockets that are ready | the worker's inbox is not empty |
//! | fibers with timers that are due | the part of the wheel that other threads may read |
//! | where fibers may migrate: fibers that are ready | the length of the list that workers share |
//!
//! Fresh fibers do not count, since any worker takes them. They count only if the program has
//! set a threshold (`Builder::slow_fiber`).
//!
//! It is a stall if a fiber has waited for longer than the threshold, and the thread has computed
//! or waited in the system meanwhile. It is none while the thread waits for a processor.
//!
//! LIVENESS: the monitor stops only after all workers have slept for some time; a worker that
//! wakes up starts it again (`Worker::waking`). So it looks at least every 100 ms while any
//! worker is awake.

use std::mem;
use std::sync::Arc;

use super::cause::Cause;
use super::counts::StallCounts;
use super::lines::Lines;
use super::report::{self, Stall};
use super::reporter::Reporter;
use super::sample;
use crate::base::clock;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sys::{Activity, is_futex};

/// A report does not wait for a worker that has run one fiber for this long. Nanoseconds;
/// arbitrary: the longest time that a report waits for an answer.
const SILENT: u64 = 50_000_000;

/// After this long without a look, earlier observations are discarded: the process or the
/// machine was stopped. Nanoseconds; arbitrary.
const GAP: u64 = 2_000_000_000;

/// The monitor's record of each worker's present run, and its settings.
#[derive(Debug)]
pub(super) struct Stalls {
    threshold: u64,
    /// Fibers that have not started count too.
    fresh: bool,
    runs: Vec<Run>,
    /// A signal may be sent to a thread to sample its frames.
    signals: bool,
    lines: Lines,
    reporter: Reporter,
    looked: u64,
    counts: Arc<StallCounts>,
}

/// One worker's present run of a fiber. Times are in nanoseconds, as `base::clock` counts.
#[derive(Debug, Default)]
struct Run {
    /// Dispatches of the worker, the one of this run included.
    epoch: u64,
    /// The time of the last look before `since`: the run has begun after that.
    after: u64,
    /// The time of the look that saw the run first.
    since: u64,
    /// The time of the last later look that checked for waiting fibers; 0 before that.
    seen: u64,
    /// Since when a fiber waits behind the run; 0 if none does. Kept once the stall is found.
    held: u64,
    /// The processor time of the thread when `held` was set.
    spent: Option<u64>,
    /// The stall that the run has been found to be.
    found: Option<Stall>,
    /// It has been checked whether the thread waits for a lock.
    asked: bool,
}

impl Stalls {
    /// Returns the record for `pool`; `None` if that pool does not look for stalls.
    pub(super) fn of(pool: &Pool, counts: &Arc<StallCounts>) -> Option<Stalls> {
        let threshold = pool.stall_threshold()?;
        Some(Stalls {
            threshold: u64::try_from(threshold.as_nanos()).unwrap_or(u64::MAX),
            fresh: pool.watch().slow.is_some(),
            runs: Vec::new(),
            signals: pool.watch().signals,
            lines: Lines::default(),
            reporter: Reporter::default(),
            looked: 0,
            counts: Arc::clone(counts),
        })
    }

    /// Looks at every worker, and writes the reports that are due.
    pub(super) fn look(&mut self, pool: &Pool) {
        let now = clock::now();
        let mut before = mem::replace(&mut self.looked, now);
        if now - before > GAP {
            self.runs.clear();
            before = now;
        }
        // All workers that have ever existed, standby workers included.
        self.runs.resize_with(pool.places(), Run::default);
        for index in 0..self.runs.len() {
            self.look_at(pool, index, before, now);
        }
    }

    /// Looks at one worker. `before` is the time of the last look.
    fn look_at(&mut self, pool: &Pool, index: usize, before: u64, now: u64) {
        let remote = pool.remote(index);
        let epoch = remote.dispatched();
        let runs = remote.runs();
        let run = &mut self.runs[index];
        if epoch != run.epoch || !runs {
            let ended = mem::replace(run, Run::seen_first(epoch, before, now));
            if let Some(stall) = ended.found {
                let lasted = now - ended.held;
                self.counts.end(lasted);
                self.lines.entry(stall.place).ends(lasted);
                if stall.reported {
                    report::end(pool, index, &stall, lasted);
                }
            }
            return;
        }
        if now - run.since >= SILENT {
            remote.set_stands(run.since, epoch);
        }
        if now - run.seen.max(run.since) < self.threshold / 10 {
            return;
        }
        let seen = mem::replace(&mut run.seen, now);
        let waiting = remote.waiting(pool, self.fresh);
        let due = remote.timers_due_since(now);
        if waiting == 0 && due.is_none() {
            if run.found.is_none() {
                run.held = 0;
            }
            self.suspect_a_lock(pool, index, now);
            return;
        }
        if run.held == 0 {
            // The fibers that wait have become ready since the last look.
            let ready = match waiting {
                0 => u64::MAX,
                _ => seen.max(run.since),
            };
            run.held = ready.min(due.unwrap_or(u64::MAX).max(run.after));
            run.spent = remote.thread().processor_time();
        }
        let held = now - run.held;
        let fibers = waiting + usize::from(due.is_some());
        let (since, spent) = (run.since, run.spent);
        match &mut run.found {
            Some(stall) => {
                let line = self.lines.entry(stall.place);
                line.lasts(held);
                if line.take_turn(now) {
                    stall.reported = true;
                    report::totals(pool, index, stall, held, fibers, line);
                }
            }
            None if held >= self.threshold => {
                let enough = self.threshold / 2;
                let Some(cause) = Cause::of(remote.thread(), spent, held, enough) else {
                    return;
                };
                let Some(mut stall) = Stall::of(index, remote, cause, epoch) else {
                    return;
                };
                let line = self.lines.entry(stall.place);
                line.stalls += 1;
                line.lasts(held);
                if line.take_turn(now) {
                    stall.reported = true;
                    if line.stalls == 1 {
                        let asked = self.signals.then(|| sample::ask(remote)).flatten();
                        stall.cause =
                            stall.cause.with_call(asked.as_ref().and_then(|it| it.call));
                        report::first(pool, index, &stall, now - since, held, fibers);
                        if let Some(asked) = asked {
                            let frames = report::Place::of(pool, index, &stall, &asked);
                            self.reporter.send(pool.name(), move || frames.report());
                        }
                    } else {
                        report::totals(pool, index, &stall, held, fibers, line);
                    }
                }
                run.found = Some(stall);
                // After the report: a reader that sees the count finds the report.
                self.counts.begin();
            }
            None => {}
        }
    }
}

/// A thread that has waited for this long while fibers of its worker are parked may wait for a lock
/// that one of them holds. Nanoseconds; arbitrary: such a wait never ends.
const LOCKED: u64 = 500_000_000;

impl Stalls {
    /// Checks, once for each run, whether the thread waits for a lock, if no fiber is ready behind
    /// the running one, but some are parked. If one of them holds the lock, this is a deadlock.
    fn suspect_a_lock(&mut self, pool: &Pool, index: usize, now: u64) {
        let remote = pool.remote(index);
        let run = &mut self.runs[index];
        let parked = remote.settled().saturating_sub(1);
        if run.asked || run.found.is_some() || now - run.since < LOCKED || parked == 0 {
            return;
        }
        run.asked = true;
        let waits = remote.thread().activity() == Some(Activity::Waits);
        let call = remote.thread().call();
        if !waits || !self.signals || call.is_some_and(|call| !is_futex(call)) {
            return;
        }
        let Some(asked) = sample::ask(remote) else {
            return;
        };
        let cause = Cause::Blocks(asked.call.or(call));
        if let Some(stall) = Stall::of(index, remote, cause, run.epoch) {
            let place = report::Place::of(pool, index, &stall, &asked);
            let counts = Arc::clone(&self.counts);
            self.reporter.send(pool.name(), move || {
                if place.report_if_locked() {
                    counts.begin();
                }
            });
        }
    }
}

impl Run {
    fn seen_first(epoch: u64, after: u64, now: u64) -> Run {
        Run {
            epoch,
            after,
            since: now,
            ..Run::default()
        }
    }
}

impl Stall {
    /// Returns a stall of the fiber that runs on the worker; `None` if the worker has switched
    /// since dispatch `epoch`.
    fn of(index: usize, remote: &Remote, cause: Cause, epoch: u64) -> Option<Stall> {
        let info = remote.describe_running(index)?;
        let name = remote.name_of(info.id.number());
        // The header may have been reused for another fiber. If the worker has not switched since
        // `epoch`, the identity and the place are those of the running fiber.
        (remote.dispatched() == epoch).then_some(Stall {
            id: info.id.number(),
            place: info.spawned_at,
            name,
            cause,
            reported: false,
        })
    }
}
