//! Snapshots: a caller asks all workers of a pool for their fibers, and each
//! worker answers for its own, between two dispatches.
//!
//! Owns: how the question gets to the workers and the answers back. Does not own: what is said of a
//! fiber (`report::fiber_info`), or what is done with it (`diag`, `sched::policy::shutdown`).
//!
//! 1. The asker waits for its turn, opens the page of answers, raises `number`, and wakes all
//!    workers.
//! 2. A worker compares `number` with the one it has answered wherever it looks at the pool's
//!    phase: at least every 61 dispatches, before it sleeps, and when it was woken. If they differ,
//!    it describes its fibers and enters them there.
//! 3. The asker waits until all have answered, but no longer than [`BOUND`], and not for a worker
//!    that the monitor has seen to run one fiber for as long. Such a worker is entered with what is
//!    known without its answer: the fiber that it runs, since when, and how many others are ready
//!    or wait.
//!
//! A worker that has thousands of fibers is asked for a few at a time ([`Question::Piece`], see
//! `walk`). Only the workers that are wanted answer such a question.
//!
//! An asker that is itself a worker answers for itself, also while it waits for its turn: so two
//! fibers that ask at the same time do not wait for each other.
//!
//! LIVENESS: `number` is raised before all workers are woken, and a worker that is woken looks at
//! it. If the look before a sleep comes first, the token of the wake ends the sleep; else the look
//! sees the number.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::clock;
use crate::fiber::state_names::State;
use crate::fiber::{FiberPtr, current};
use crate::report::cycle::Link;
use crate::report::fiber_info::{self, FiberInfo, Sighting};
use crate::report::summary::Tally;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::report::walk::{self, Counted, Want};
use crate::sched::worker::run::Worker;
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::{self, Condvar, Mutex};
use crate::wait::object::Object;

/// The time that workers have to answer. Arbitrary: far more than a worker that can answer needs,
/// and short for the asker.
const BOUND: Duration = Duration::from_millis(50);

/// How long an asker waits for its turn before it checks whether it must answer itself. Arbitrary.
const TURN: Duration = Duration::from_millis(1);

/// Fibers of each worker for which backtraces are taken: some microseconds for each, and a page or
/// two of its stack. Arbitrary.
pub(super) const FRAMES: usize = 256;

/// The same under a sanitizer, where one visit takes as long as hundreds of them.
pub(super) const VISITS: usize = if cfg!(any(pirn_asan, pirn_tsan)) {
    8
} else {
    FRAMES
};

/// The requests for snapshots of one pool.
pub(in crate::sched) struct SnapshotRequests {
    /// The number of requests so far. Written by askers, read by workers.
    number: AtomicU64,
    page: Mutex<SnapshotPage>,
    /// A worker has answered, or an asker is done.
    turned: Condvar,
}

#[derive(Default)]
struct SnapshotPage {
    /// A snapshot request is open.
    open: bool,
    /// An asker walks (`walk`), and asks repeatedly.
    walked: bool,
    question: Question,
    /// For each worker, the piece that it is asked for; empty for any other question.
    wants: Vec<Option<Want>>,
    answers: Vec<WorkerInfo>,
}

/// A question to the workers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Everything known of every fiber.
    #[default]
    Everything,
    /// The same of a few fibers of the workers that are wanted.
    Piece,
    /// Everything of the fiber with this number.
    Fiber(u64),
    /// Which fiber waits for which, of at most this many fibers of each worker.
    Links(usize),
}

/// A worker's answer, or what was entered for it.
#[derive(Debug)]
pub(crate) struct WorkerInfo {
    pub(crate) worker: usize,
    /// The worker has answered itself.
    pub(crate) answered: bool,
    /// If it has not: how long it has not run another fiber, as far as known.
    pub(crate) silent: Option<Duration>,
    /// The fibers that have started there and not ended; without an answer, the one that it runs.
    pub(crate) fibers: Vec<FiberInfo>,
    /// Without an answer: the counts of fibers that are not in `fibers`, by state.
    pub(crate) others: Tally,
    /// Fibers of a piece that are only counted.
    pub(in crate::sched) counted: Vec<Counted>,
    /// The number of fibers of a piece that were visited.
    pub(in crate::sched) visited: usize,
    pub(in crate::sched) links: Vec<Link>,
    /// Started fibers that could run.
    pub(crate) ready: usize,
    /// Fibers in its ring, which have not started.
    pub(crate) fresh: usize,
}

/// The result of a snapshot request.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// In the order of their numbers; empty for those without a thread.
    pub(crate) workers: Vec<WorkerInfo>,
}

impl Snapshot {
    /// Returns all fibers.
    pub(crate) fn fibers(self) -> Vec<FiberInfo> {
        let workers = self.workers.into_iter();
        workers.flat_map(|worker| worker.fibers).collect()
    }

    /// Returns which fiber waits for which.
    pub(in crate::sched) fn links(self) -> Vec<Link> {
        let workers = self.workers.into_iter();
        workers.flat_map(|worker| worker.links).collect()
    }
}

impl SnapshotRequests {
    pub(in crate::sched) fn new() -> SnapshotRequests {
        SnapshotRequests {
            number: AtomicU64::new(0),
            page: Mutex::new(SnapshotPage::default()),
            turned: Condvar::new(),
        }
    }
}

/// The right to walk, held by one asker at a time: each piece moves fibers in the workers' lists.
pub(crate) struct Turn<'a>(&'a SnapshotRequests);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.page.lock().walked = false;
        self.0.turned.notify_all();
    }
}

impl Pool {
    /// Blocks the calling thread until no other asker walks. Returns `None` if that takes until
    /// `until`.
    pub(crate) fn begin_walk(self: &Arc<Self>, until: Instant) -> Option<Turn<'_>> {
        let local = current::local();
        let own = Worker::of(local).filter(|worker| Arc::ptr_eq(&worker.pool, self));
        let snapshots = &self.snapshots;
        let mut page = snapshots.page.lock();
        while page.walked {
            let now = shim::now();
            if now >= until {
                return None;
            }
            page = snapshots.turned.wait_until(page, now + TURN);
            if let Some(own) = own {
                drop(page);
                own.answer_snapshot(local.fiber());
                page = snapshots.page.lock();
            }
        }
        page.walked = true;
        Some(Turn(snapshots))
    }

    /// Asks every worker for its fibers. Blocks the calling thread for no longer than [`BOUND`]
    /// once the askers before it are done.
    pub(crate) fn snapshot(self: &Arc<Self>, question: Question) -> Snapshot {
        if self.is_free() {
            return self.survey(question);
        }
        self.ask(question, &[])
    }

    /// As [`snapshot`](Self::snapshot) where fibers stay on their workers; with `wants`, asks only
    /// the workers of which a piece is wanted.
    pub(in crate::sched) fn ask(
        self: &Arc<Self>,
        question: Question,
        wants: &[Option<Want>],
    ) -> Snapshot {
        let local = current::local();
        let own = Worker::of(local).filter(|worker| Arc::ptr_eq(&worker.pool, self));
        let snapshots = &self.snapshots;
        let mut page = snapshots.page.lock();
        while page.open {
            page = snapshots.turned.wait_until(page, shim::now() + TURN);
            if let Some(own) = own {
                drop(page);
                own.answer_snapshot(local.fiber());
                page = snapshots.page.lock();
            }
        }
        page.open = true;
        page.question = question;
        wants.clone_into(&mut page.wants);
        page.answers.clear();
        // ORDERING: SeqCst: see LIVENESS; the wake-ups follow.
        snapshots.number.fetch_add(1, Ordering::SeqCst);
        drop(page);
        let is_wanted = |worker: usize| wants.get(worker).is_none_or(Option::is_some);
        for (_, remote) in self
            .remotes
            .iter()
            .enumerate()
            .filter(|(w, _)| is_wanted(*w))
        {
            remote.inbox.unpark();
        }
        match own {
            Some(own) => own.answer_snapshot(local.fiber()),
            None => self.with_driven(|worker| worker.answer_snapshot(None)),
        }
        let until = shim::now() + BOUND;
        let mut page = snapshots.page.lock();
        let waits = |worker: usize| !self.remotes[worker].is_silent();
        while self.owing(&page).any(waits) && shim::now() < until {
            page = snapshots.turned.wait_until(page, until);
        }
        let silent: Vec<usize> = self.owing(&page).collect();
        let mut workers = mem::take(&mut page.answers);
        page.open = false;
        drop(page);
        snapshots.turned.notify_all();
        workers.extend(silent.into_iter().map(|worker| self.speak_for(worker)));
        workers.sort_by_key(|worker| worker.worker);
        Snapshot { workers }
    }

    /// Returns the workers that have a thread and have not answered.
    fn owing<'a>(&'a self, page: &'a SnapshotPage) -> impl Iterator<Item = usize> + 'a {
        let wanted = |&worker: &usize| page.wants.get(worker).is_none_or(Option::is_some);
        let there = |&worker: &usize| {
            let remote = &self.remotes[worker];
            remote.launched.load(Ordering::Acquire)
                && !remote.ended.load(Ordering::Acquire)
        };
        let missing = |&worker: &usize| page.answers.iter().all(|a| a.worker != worker);
        let workers = (0..self.remotes.len()).filter(wanted);
        workers.filter(there).filter(missing)
    }

    /// Describes a worker that does not answer.
    fn speak_for(&self, worker: usize) -> WorkerInfo {
        let remote = &self.remotes[worker];
        let busy = remote.settled.get() > 0;
        let running = busy.then(|| remote.describe_running(worker)).flatten();
        let (settled, ready) = (remote.settled.get(), remote.seen_ready());
        let known = ready + usize::from(running.is_some());
        let mut others = Tally::default();
        others.add((State::Runnable, None), ready);
        others.add((State::Parked, None), settled.saturating_sub(known));
        WorkerInfo {
            worker,
            answered: false,
            silent: Some(remote.silence()),
            fibers: running.into_iter().collect(),
            others,
            counted: Vec::new(),
            visited: 0,
            links: Vec::new(),
            ready,
            fresh: remote.ring.len() as usize,
        }
    }
}

impl Remote {
    /// True if the worker has run one fiber for so long that its answer is not waited for.
    fn is_silent(&self) -> bool {
        let stands = self.stands_at.load(Ordering::Acquire);
        let runs = !self.running.load(Ordering::Relaxed).is_null();
        // A worker that has dispatched since then answers.
        stands != 0 && stands == self.counters.dispatched.get() && runs
    }

    /// Returns for how long the worker, which has not answered, has run one fiber.
    fn silence(&self) -> Duration {
        match self.is_silent() {
            false => BOUND,
            true => {
                let since = self.stands_since.load(Ordering::Relaxed);
                Duration::from_nanos(clock::now().saturating_sub(since))
            }
        }
    }
}

/// Descriptions of fibers of one worker, in order, as far as they were asked for.
pub(in crate::sched) struct Descriptions {
    question: Question,
    /// The number of fibers with a backtrace.
    frames: usize,
    pub(in crate::sched) infos: Vec<FiberInfo>,
    /// Thousands of fibers may wait for one object, and describing it takes its lock.
    known: BTreeMap<usize, Object>,
}

impl Descriptions {
    /// Returns empty descriptions for this question.
    pub(in crate::sched) fn answering(question: Question) -> Descriptions {
        Descriptions {
            question,
            frames: match question {
                Question::Everything => VISITS,
                Question::Fiber(_) => 1,
                Question::Piece | Question::Links(_) => 0,
            },
            infos: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Returns empty descriptions for a question about a piece.
    pub(in crate::sched) fn of_piece(want: Want) -> Descriptions {
        Descriptions {
            frames: want.frames,
            ..Descriptions::answering(Question::Piece)
        }
    }

    /// # Safety
    /// As [`FiberInfo::sight`].
    pub(in crate::sched) unsafe fn add(
        &mut self,
        worker: usize,
        fiber: FiberPtr,
        state: State,
        off_stack: bool,
    ) {
        if matches!(self.question, Question::Fiber(id) if fiber.header().id() != id) {
            return;
        }
        let frames = self.infos.len() < self.frames;
        // SAFETY: the caller's promise.
        let sighting =
            unsafe { FiberInfo::sight(worker, fiber, state, frames, off_stack) };
        let Sighting { mut info, subject } = sighting;
        info.waits_for = subject.map(|subject| {
            let describe = || {
                // SAFETY: NO2: its fiber still waits.
                unsafe { subject.describe() }
            };
            let known = self.known.entry(subject.address());
            known.or_insert_with(describe).clone()
        });
        self.infos.push(info);
    }

    /// Adds a fiber of which no more is known.
    pub(in crate::sched) fn add_known(&mut self, info: FiberInfo) {
        match self.question {
            Question::Fiber(id) if info.id.number() != id => {}
            _ => self.infos.push(info),
        }
    }
}

/// Returns the state of a started fiber of the calling worker.
fn state_of(fiber: FiberPtr, running: Option<FiberPtr>) -> State {
    match fiber_info::waits(fiber) {
        _ if running == Some(fiber) => State::Running,
        true => State::Parked,
        false => State::Runnable,
    }
}

impl Worker {
    /// True if a snapshot request is open and this worker has not answered.
    pub(in crate::sched) fn owes_snapshot(&self) -> bool {
        // ORDERING: SeqCst: see LIVENESS.
        self.pool.snapshots.number.load(Ordering::SeqCst) != self.role.answered()
    }

    /// Answers if a snapshot request is open. `running` is the fiber that this is called on.
    pub(in crate::sched) fn answer_snapshot(&self, running: Option<FiberPtr>) {
        if self.owes_snapshot() {
            self.enter_answer(running);
        }
    }

    #[cold]
    fn enter_answer(&self, running: Option<FiberPtr>) {
        let snapshots = &self.pool.snapshots;
        let (open, question, want, number) = {
            let page = snapshots.page.lock();
            let want = page.wants.get(self.index).copied().flatten();
            let number = snapshots.number.load(Ordering::SeqCst);
            (page.open, page.question, want, number)
        };
        self.role.set_answered(number);
        if !open || (question == Question::Piece && want.is_none()) {
            // The asker has left, or does not ask this worker.
            return;
        }
        let mut fibers = Descriptions::answering(question);
        let (mut links, mut counted, mut visited) = (Vec::new(), Vec::new(), 0);
        match (question, want) {
            (Question::Links(most), _) => links = self.describe_links(most),
            (Question::Piece, Some(want)) => {
                fibers = Descriptions::of_piece(want);
                (visited, counted) = self.describe_piece(running, want, &mut fibers);
            }
            _ => self.describe_started(running, &mut fibers),
        }
        let answer = WorkerInfo {
            worker: self.index,
            answered: true,
            silent: None,
            fibers: fibers.infos,
            others: Tally::default(),
            counted,
            visited,
            links,
            ready: self.count_ready(),
            fresh: self.remote().ring.len() as usize
                + usize::from(!self.remote().next.is_empty()),
        };
        let mut page = snapshots.page.lock();
        // The asker does not read an answer that comes too late.
        if page.open && snapshots.number.load(Ordering::SeqCst) == number {
            page.answers.push(answer);
            drop(page);
            snapshots.turned.notify_all();
        }
    }

    fn describe_links(&self, most: usize) -> Vec<Link> {
        let mut links = Vec::new();
        let mut left = most;
        self.each_started(|fiber| {
            if left > 0 && fiber_info::waits(fiber) {
                left -= 1;
                // SAFETY: as in `describe_started`.
                links.extend(unsafe { fiber_info::link(fiber) });
            }
        });
        links
    }

    pub(in crate::sched) fn describe_started(
        &self,
        running: Option<FiberPtr>,
        fibers: &mut Descriptions,
    ) {
        self.each_started(|fiber| {
            let state = state_of(fiber, running);
            // SAFETY: this worker's own, and it runs no other before this returns.
            unsafe { fibers.add(self.index, fiber, state, true) };
        });
    }

    /// Describes the next fibers of a walk, for at most [`PIECE`](walk::PIECE), or counts those
    /// that are not to be described. Returns how many it has visited, and the counted ones.
    fn describe_piece(
        &self,
        running: Option<FiberPtr>,
        want: Want,
        fibers: &mut Descriptions,
    ) -> (usize, Vec<Counted>) {
        let until = clock::now() + walk::PIECE;
        let (mut visited, mut counted) = (0, Vec::new());
        // At least one: `visited == 0` stands for an empty list.
        while visited < want.left && (visited == 0 || clock::now() < until) {
            let Some(fiber) = self.next_of_walk() else {
                break;
            };
            visited += 1;
            let state = state_of(fiber, running);
            if fibers.infos.len() < want.describe {
                // SAFETY: as in `describe_started`.
                unsafe { fibers.add(self.index, fiber, state, true) };
            } else {
                // SAFETY: as in `describe_started`.
                let doing = unsafe { fiber_info::doing(fiber, state) };
                counted.push(Counted::new(fiber, doing));
            }
        }
        (visited, counted)
    }
}
