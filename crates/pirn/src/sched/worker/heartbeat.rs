//! Beats: when pending jobs (`fiber::jobs`) become fibers, and when a fiber that joins
//! yields.
//!
//! Owns: the work of a worker when a join checks the requests. Does not own: the list of
//! jobs and its words (`fiber::jobs`), nor how a job becomes a fiber (`par::fork::task`).
//!
//! After M. Rainey, U. Acar and others, "Heartbeat scheduling: provable efficiency for
//! nested parallelism" (PLDI 2018): a fiber runs on its own, and promotes its *oldest*
//! job, which is usually the largest, at beats that are far apart compared to the cost of
//! a promotion. Here a beat is a request by a worker or by the monitor:
//!
//! | the word says | set by | when | what follows |
//! |---|---|---|---|
//! | ARMED | the monitor, and every worker's birth | it does not look often | it looks again; a job for each idle worker |
//! | ASKED | a worker that has done a job, or goes to sleep | jobs are long, or its last question was `ASK` ago; a wake-up pays (`steal_payoff`) | a job for each idle worker, one at least |
//! | ASKED | one that finds nothing, but pending jobs | at most every `ASK` | the same |
//! | ASKED | the monitor | while some worker sleeps | the same |
//! | AGAIN | the owner | more jobs are due, or one was promoted and not taken | one job more |
//! | GIVE_WAY | the monitor | the fiber has run since its last look | the fiber yields if others want its thread; one job, if others can take none here |
//! | ALWAYS | the list's birth | the runtime is deterministic, or modelled as a whole | the seed says whether one job is promoted, and whether the fiber yields |
//! | ALWAYS | the same | the thread is no worker | [`place`] says where the join goes |
//!
//! On a runtime that is driven by hand there is no monitor: a fiber that joins yields
//! when it waits.
//!
//! LIVENESS: jobs are pending only while their fiber runs (JO1), and it runs only on a
//! worker that is awake. If another one sleeps meanwhile, the monitor is not stopped.
//! Either it looks often and sees the jobs, or it has armed the word after announcing
//! that it does not; the next join sees both and notifies it. A word that is set after
//! the last join of a long first half is seen by the next join, or not at all: a fiber
//! that neither joins nor waits keeps its jobs, as in Heartbeat scheduling.

use std::ptr;
use std::sync::Arc;

use crate::base::choice::Pick;
use crate::base::clock;
use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::fiber::entry;
use crate::fiber::jobs::{Beat, Jobs};
use crate::sched::pool::shared::Pool;
use crate::sched::worker::park::SPIN;
use crate::sched::worker::run::Worker;
use crate::wait::yielding::yield_joining;

/// Where a seed decides, one join in this many yields. Arbitrary: often enough for short
/// works to do it.
const TURN: usize = 8;

/// Where a join is called.
pub(crate) enum Place {
    /// On a fiber; its jobs go here.
    Fiber(&'static Jobs),
    /// On a plain thread.
    Outside,
    /// Where waiting is forbidden: inside a poll, or in a hook of a worker.
    Alone,
}

/// Returns where the caller, which is to check the requests, calls a join.
pub(crate) fn place(local: &Local) -> Place {
    match local.fiber() {
        Some(_) if !local.is_polling() => Place::Fiber(local.jobs()),
        None if local.worker().is_null() && local.starting().is_null() => Place::Outside,
        _ => Place::Alone,
    }
}

/// Checks the requests to the calling fiber: promotes the jobs that are asked for, and
/// yields if required.
#[cold]
pub(crate) fn beat(local: &Local) {
    if Worker::here(local).beat(local) {
        yield_joining();
    }
}

/// True if others may want the thread of the calling fiber, which could compute more or
/// end.
pub(crate) fn is_wanted(local: &Local) -> bool {
    match Worker::of(local) {
        Some(worker) if local.fiber().is_some() => {
            worker.is_wanted() || worker.is_driven()
        }
        _ => false,
    }
}

/// Queues a fresh fiber that was a job of the calling fiber. `wanted`: a worker waits for
/// exactly this.
pub(crate) fn queue_job(local: &Local, fiber: FiberPtr, wanted: bool) {
    Worker::here(local).queue_job(fiber, wanted);
}

/// Drops `fiber`, a job of the caller that has found no stack, without running it, unless
/// another worker has taken it. The join then does the job itself.
pub(crate) fn take_job_back(local: &Local, fiber: FiberPtr) {
    let worker = Worker::here(local);
    let taken = worker.pool.stack_waiters.take(|waiting| waiting == fiber);
    if let Some(fiber) = taken {
        entry::refuse(fiber);
        // Destructors of its locals may have waited: the caller may be on another worker.
        let worker = Worker::here(current::local());
        // It runs at its join, as a part of its owner.
        worker.remote().counters.started.increment();
        worker.remote().counters.completed.increment();
        worker.pool.look_for_quiet();
    }
}

/// Notes that the calling fiber will wait for one of its jobs, so its worker should watch
/// for the end.
pub(crate) fn expect_end(local: &Local) {
    if let Some(worker) = Worker::of(local).filter(|w| w.pool.workers() > 1) {
        worker.joins.payoff.expect(clock::now());
    }
}

/// Runs a job that has become a fiber, on that fiber, and accounts for it. It was noted
/// in the list `owner`.
pub(crate) fn run_job<R>(owner: *const Jobs, work: impl FnOnce() -> R) -> R {
    let began = clock::now();
    let result = work();
    let local = current::local();
    if let Some(worker) = Worker::of(local) {
        match ptr::eq(local.jobs(), owner) {
            true => worker.has_kept_a_job(),
            false => worker.has_done_a_job(began),
        }
    }
    result
}

impl Pool {
    /// Makes the monitor look often. Launches it if needed: a pool of one worker may have
    /// none yet.
    #[cold]
    fn poll_joins(self: &Arc<Self>) {
        if !self.is_by_hand() && !self.threads.lock().is_monitored() {
            // Without the monitor no thread asks the fiber to yield, and it yields when
            // it waits.
            self.policy().watch(self);
        }
        self.monitor.attend();
    }
}

impl Worker {
    /// True if the running fiber is to yield.
    fn beat(&self, local: &Local) -> bool {
        let jobs = local.jobs();
        let why = jobs.take_beat();
        if why.has(Beat::ALWAYS) {
            let below = |n| match local.chooses() {
                true => local.pick(Pick::Promotion, n),
                false => local.random_below(n, 0),
            };
            if below(2) == 0 {
                jobs.promote_oldest(true);
            }
            return below(TURN) == 0;
        }
        let run = self.remote().counters.dispatched.get();
        let mut credit = match self.joins.claim_credit(run) {
            true => jobs.credit().get(),
            false => 0,
        };
        if why.has(Beat::ARMED) || why.has(Beat::ASKED) {
            let wanted = usize::from(why.has(Beat::ASKED));
            let itself = usize::from(self.search.is_active());
            let others = self.pool.idle.unoccupied().saturating_sub(itself);
            credit = others.max(wanted);
            self.joins.begin_kept();
        }
        let gives_way = why.has(Beat::GIVE_WAY) && self.gives_way();
        if why.has(Beat::GIVE_WAY) && !gives_way && self.puts_out() {
            credit = credit.max(1);
        }
        if credit > 0 && jobs.promote_oldest(true) {
            credit -= 1;
        }
        if why.has(Beat::ARMED) {
            // After the other wake: the monitor's thread would compete with the woken
            // worker's.
            self.pool.poll_joins();
        }
        jobs.credit().set(credit);
        if credit > 0 {
            jobs.request(Beat::AGAIN);
        }
        gives_way
    }

    /// True if a job is to be queued where other workers find it, so that a worker that
    /// has nothing to do need not ask first.
    fn puts_out(&self) -> bool {
        self.pool.workers() > 1 && self.remote().queued() == 0
    }

    /// True if others may want this thread; then the worker goes through everything next.
    fn gives_way(&self) -> bool {
        let driven = self.is_driven();
        let wanted = self.is_wanted();
        self.remote().jobs.set_crowded(wanted);
        if wanted || driven {
            self.force_maintenance();
        }
        wanted || driven
    }

    /// True if fibers wait for sockets that this worker polls.
    fn is_driven(&self) -> bool {
        self.driver().is_some_and(|driver| driver.is_used())
    }

    /// True if a fiber waits for this thread that no other worker would have taken.
    fn is_wanted(&self) -> bool {
        let remote = self.remote();
        self.has_ready()
            || self.queues.has_first()
            || !remote.inbox.is_empty()
            || !remote.next.is_empty()
            // One of them may be a promoted job.
            || remote.queued() > 1
            || !self.pool.injector.is_empty()
            || self.unnoticed_phase()
            || self.timer_is_due()
    }

    /// Records a job that was promoted here, and not taken before its join returned to
    /// it. Other workers may want the next one, which may be longer.
    fn has_kept_a_job(&self) {
        if self.joins.may_keep()
            && self.pool.workers() > 1
            && self.pool.idle.unoccupied() > 0
        {
            self.joins.keep();
            let jobs = &self.remote().jobs;
            jobs.credit().set(1);
            jobs.request(Beat::AGAIN);
        }
    }

    /// Records a job of another worker that began at `began` and is done, before its
    /// joiner learns of it. The joiner may join again at once. It must find then that
    /// this worker takes another job.
    fn has_done_a_job(&self, began: u64) {
        let now = clock::now();
        self.joins.payoff.add(began, now);
        let asks = self.joins.payoff.is_good() || self.joins.is_ask_due(now);
        if asks && !self.has_ready() && self.remote().queued() == 0 {
            self.joins.set_asked(now);
            self.ask_for_next_job();
        }
    }

    /// Asks for jobs, and watches for them if some are likely to come, or for the end of
    /// one that is waited for here. True if there is something to run.
    pub(super) fn watch_for_jobs(&self) -> bool {
        let asked = self.ask_for_jobs();
        match self.joins.payoff.worth_watching(clock::now()) {
            0 => asked && self.search.is_active() && self.watch(SPIN, || ()),
            nanos => {
                if self.joins.payoff.is_good() {
                    self.ask_for_next_job();
                }
                self.watch(nanos, || _ = self.ask_for_jobs())
            }
        }
    }

    /// Makes the next join of each other worker check the requests, since this worker has
    /// nothing to do, or will have nothing.
    fn ask_for_next_job(&self) {
        let own = &*self.remote().jobs;
        for remote in self.pool.remotes.iter() {
            if !ptr::eq(&*remote.jobs, own) {
                remote.jobs.request(Beat::ASKED);
            }
        }
    }

    /// Arms the joins before this worker sleeps, since it will not ask again. If jobs
    /// have not been worth a wake-up, the monitor is to have it woken for the next one.
    pub(super) fn arm_heartbeat(&self) {
        self.joins.payoff.settle();
        if self.joins.payoff.is_worth_a_wake() {
            self.ask_for_next_job();
        }
    }

    /// Makes fibers that join on other workers promote a job; false if there are none.
    pub(super) fn ask_for_jobs(&self) -> bool {
        let own = &*self.remote().jobs;
        let mut joining = self.pool.remotes.iter().map(|remote| &*remote.jobs);
        if !joining.any(|jobs| !ptr::eq(jobs, own) && jobs.has_pending()) {
            return false;
        }
        let now = clock::now();
        if self.joins.is_ask_due(now) {
            self.joins.set_asked(now);
            for remote in self.pool.remotes.iter() {
                if remote.jobs.has_pending() {
                    remote.jobs.request(Beat::ASKED);
                }
            }
        }
        true
    }
}
