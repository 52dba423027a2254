//! Snapshots: a caller asks all workers of a pool for their fibers, and each worker answers for its
//! own, between two dispatches.
//!
//! Owns: the asker's side: the turn, the question, the wait for the answers. Does not own: the
//! workers' side (`answer`), what is said of a fiber (`report::fiber_info`), or what is done with
//! it (`diag`, `sched::policy::shutdown`).
//!
//! 1. The asker waits for its turn, opens a page in the book, raises the pool's number of requests
//!    (`sched::observer`), and wakes all workers.
//! 2. A worker compares that number with the one it has answered wherever it looks at the pool's
//!    phase: at least every 61 dispatches, before it sleeps, and when it was woken. If they differ,
//!    it describes its fibers and enters them in the book.
//! 3. The asker waits until all have answered, but no longer than [`BOUND`], and not for a worker
//!    that the monitor has seen to run one fiber for as long. Such a worker is entered with what is
//!    known without its answer: the fiber that it runs, since when, and how many others are ready
//!    or wait.
//!
//! A worker that has thousands of fibers is asked for a few at a time ([`Question::Piece`],
//! [`Question::Fiber`] and [`Question::Links`], see `walk`). Only the workers that are wanted
//! answer such a question.
//!
//! An asker that is itself a worker answers for itself, also while it waits for its turn: so two
//! fibers that ask at the same time do not wait for each other.
//!
//! LIVENESS: the number is raised before all workers are woken, and a worker that is woken looks at
//! it. If the look before a sleep comes first, the token of the wake ends the sleep; else the look
//! sees the number.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::question::{Question, Snapshot, Want, WorkerInfo};
use super::survey;
use crate::base::clock;
use crate::fiber::current;
use crate::fiber::state_names::State;
use crate::report::summary::Tally;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::shim::{self, Condvar, Mutex};

/// The time that workers have to answer. Arbitrary: far more than a worker that can answer needs,
/// and short for the asker.
const BOUND: Duration = Duration::from_millis(50);

/// How long an asker waits for its turn before it checks whether it must answer itself. Arbitrary.
const TURN: Duration = Duration::from_millis(1);

/// The snapshots of one pool: the observer that its workers answer.
pub(in crate::observe) struct Snapshots {
    pub(super) book: Mutex<SnapshotPage>,
    /// A worker has answered, or an asker is done.
    pub(super) turned: Condvar,
}

#[derive(Default)]
pub(super) struct SnapshotPage {
    /// The number of requests so far.
    pub(super) number: u64,
    /// A snapshot request is open.
    pub(super) open: bool,
    /// An asker walks (`walk`), and asks repeatedly.
    walked: bool,
    /// The number of turns to walk so far.
    turns: u64,
    pub(super) question: Question,
    /// For each worker, the piece that it is asked for; empty for any other question.
    pub(super) wants: Vec<Option<Want>>,
    pub(super) answers: Vec<WorkerInfo>,
}

impl Snapshots {
    pub(in crate::observe) fn new() -> Snapshots {
        Snapshots {
            book: Mutex::new(SnapshotPage::default()),
            turned: Condvar::new(),
        }
    }

    /// Returns the snapshots of `pool`.
    fn of(pool: &Pool) -> &Snapshots {
        pool.observer()
    }
}

/// The right to walk, held by one asker at a time: each piece moves fibers in the workers' lists.
pub(crate) struct Turn<'a> {
    snapshots: &'a Snapshots,
    /// The number of turns so far, with this one.
    pub(super) number: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.snapshots.book.lock().walked = false;
        self.snapshots.turned.notify_all();
    }
}

/// Blocks the calling thread until no other asker walks. Returns `None` if that takes until
/// `until`.
pub(crate) fn begin_walk(pool: &Arc<Pool>, until: Instant) -> Option<Turn<'_>> {
    let local = current::local();
    let own = pool.own_worker(local);
    let snapshots = Snapshots::of(pool);
    let mut book = snapshots.book.lock();
    while book.walked {
        let now = shim::now();
        if now >= until {
            return None;
        }
        book = snapshots.turned.wait_until(book, now + TURN);
        if let Some(own) = own {
            drop(book);
            own.answer_requests(local.on_stack());
            book = snapshots.book.lock();
        }
    }
    book.walked = true;
    book.turns += 1;
    let number = book.turns;
    Some(Turn { snapshots, number })
}

/// Asks every worker for its fibers. Blocks the calling thread for no longer than [`BOUND`] once
/// the askers before it are done.
pub(super) fn snapshot(pool: &Arc<Pool>) -> Snapshot {
    if pool.is_free() {
        return survey::survey(pool);
    }
    ask(pool, Question::Everything, &[])
}

/// Asks workers where fibers stay on them; with `wants`, only the workers of which a piece is
/// wanted.
pub(super) fn ask(
    pool: &Arc<Pool>,
    question: Question,
    wants: &[Option<Want>],
) -> Snapshot {
    let local = current::local();
    let own = pool.own_worker(local);
    let snapshots = Snapshots::of(pool);
    let mut book = snapshots.book.lock();
    while book.open {
        book = snapshots.turned.wait_until(book, shim::now() + TURN);
        if let Some(own) = own {
            drop(book);
            own.answer_requests(local.on_stack());
            book = snapshots.book.lock();
        }
    }
    book.open = true;
    book.question = question;
    wants.clone_into(&mut book.wants);
    book.answers.clear();
    book.number += 1;
    // LIVENESS: the wake-ups follow.
    pool.request_answers();
    drop(book);
    let asked = pool.remotes().enumerate();
    let asked = asked.filter(|(worker, _)| is_wanted(wants, *worker));
    asked.for_each(|(_, remote)| remote.wake_to_answer());
    match own {
        Some(own) => own.answer_requests(local.on_stack()),
        None => pool.with_driven(|worker| worker.answer_requests(None)),
    }
    let until = shim::now() + BOUND;
    let mut book = snapshots.book.lock();
    let waits = |worker: usize| pool.remote(worker).stands_since().is_none();
    while owing(pool, &book).any(waits) && shim::now() < until {
        book = snapshots.turned.wait_until(book, until);
    }
    let silent: Vec<usize> = owing(pool, &book).collect();
    let mut workers = mem::take(&mut book.answers);
    book.open = false;
    drop(book);
    snapshots.turned.notify_all();
    workers.extend(silent.into_iter().map(|worker| speak_for(pool, worker)));
    workers.sort_by_key(|worker| worker.worker);
    Snapshot { workers }
}

/// True if `worker` is to answer: one of which a piece is wanted, or any if `wants` is empty. A
/// worker that was added since has no place in `wants`.
pub(super) fn is_wanted(wants: &[Option<Want>], worker: usize) -> bool {
    wants.is_empty() || wants.get(worker).is_some_and(Option::is_some)
}

/// Returns the workers that have a thread and have not answered.
fn owing<'a>(pool: &'a Pool, book: &'a SnapshotPage) -> impl Iterator<Item = usize> + 'a {
    let wanted = |&worker: &usize| is_wanted(&book.wants, worker);
    let there = |&worker: &usize| pool.remote(worker).has_thread();
    let missing = |&worker: &usize| book.answers.iter().all(|a| a.worker != worker);
    let workers = (0..pool.places()).filter(wanted);
    workers.filter(there).filter(missing)
}

/// Describes a worker that does not answer.
fn speak_for(pool: &Pool, worker: usize) -> WorkerInfo {
    let remote = pool.remote(worker);
    let busy = remote.settled() > 0;
    let running = busy.then(|| remote.describe_running(worker)).flatten();
    let (settled, ready) = (remote.settled(), remote.seen_ready());
    let known = ready + usize::from(running.is_some());
    let mut others = Tally::default();
    others.add((State::Runnable, None), ready);
    others.add((State::Parked, None), settled.saturating_sub(known));
    WorkerInfo {
        worker,
        answered: false,
        silent: Some(silence(remote)),
        fibers: running.into_iter().collect(),
        others,
        counted: Vec::new(),
        visited: 0,
        links: Vec::new(),
        ready,
        fresh: remote.ring_len(),
    }
}

/// Returns for how long the worker, which has not answered, has run one fiber.
fn silence(remote: &Remote) -> Duration {
    match remote.stands_since() {
        None => BOUND,
        Some(since) => Duration::from_nanos(clock::now().saturating_sub(since)),
    }
}
