//! The roll: everybody who wants to know asks all workers of a pool what fibers they have, and
//! each worker answers for its own, between two dispatches.
//!
//! Owns: how the question gets to the workers and the answers back. Does not own: what is said
//! of a fiber (`fiber_info`), or what is done with it (`diag`, `shutdown`).
//!
//! 1. The asker waits for its turn, opens a page in the book, raises `number`, and rouses
//!    everyone.
//! 2. A worker compares `number` with the one it has answered wherever it looks at the pool's
//!    phase: at least every 61 dispatches, before it sleeps, and when it was roused. If they
//!    differ it describes its fibers and enters them in the book.
//! 3. The asker waits until all have answered, but no longer than [`BOUND`]. A worker that
//!    computes, or sits in a system call, is entered with the fiber that it runs.
//!
//! An asker that is itself a worker answers for itself, also while it waits for its turn: so two
//! fibers that ask at the same time do not wait for each other.
//!
//! LIVENESS: `number` is raised before everyone is roused, and a worker that is roused looks at
//! it. If the look before a sleep comes first, the token that it is roused with ends the sleep;
//! else the look sees the number.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::cycle::Link;
use super::fiber_info::{self, FiberInfo, Sighting};
use super::pool::Pool;
use super::tally::Tally;
use super::worker::{Worker, header};
use crate::fiber::life::State;
use crate::fiber::{FiberPtr, current};
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::{self, Condvar, Mutex};
use crate::wait::object::Object;

/// How long workers have to answer. Arbitrary: far more than a worker that can answer needs,
/// and short for whoever waits.
const BOUND: Duration = Duration::from_millis(50);

/// How long somebody who wants to ask waits before it looks whether it has to answer itself.
/// Arbitrary.
const TURN: Duration = Duration::from_millis(1);

/// Fibers of each worker whose backtraces are taken: some microseconds for each, and a page or
/// two of its stack. Arbitrary.
const FRAMES: usize = 256;

/// The roll of one pool.
pub(super) struct Roll {
    /// How often it has been called. Written by askers, read by workers.
    number: AtomicU64,
    book: Mutex<Book>,
    /// Somebody has answered, or an asker is done.
    turned: Condvar,
}

#[derive(Default)]
struct Book {
    /// Somebody asks.
    open: bool,
    question: Question,
    answers: Vec<WorkerInfo>,
}

/// What is asked.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// All there is to know of every fiber.
    #[default]
    Everything,
    /// The same without backtraces, of so many fibers of each worker; of the others, how many
    /// do what.
    Fibers(usize),
    /// Everything of the fiber with this number.
    Fiber(u64),
    /// Who waits for whom, of so many fibers of each worker.
    Links(usize),
}

/// What a worker has said, or what was said of it.
#[derive(Debug)]
pub(crate) struct WorkerInfo {
    pub(crate) worker: usize,
    /// It has spoken for itself.
    pub(crate) answered: bool,
    /// The fibers that have started there and not ended; else the one that it runs.
    pub(crate) fibers: Vec<FiberInfo>,
    /// Fibers that are not in `fibers`, since fewer were asked for.
    pub(crate) others: Tally,
    pub(super) links: Vec<Link>,
    /// Started fibers that could run.
    pub(crate) ready: usize,
    /// Fibers in its ring, which have not started.
    pub(crate) fresh: usize,
}

/// What a roll call has brought.
#[derive(Debug)]
pub(crate) struct RollCall {
    /// In the order of their numbers; those without a thread have nothing to say.
    pub(crate) workers: Vec<WorkerInfo>,
}

impl RollCall {
    /// All fibers.
    pub(crate) fn fibers(self) -> Vec<FiberInfo> {
        let workers = self.workers.into_iter();
        workers.flat_map(|worker| worker.fibers).collect()
    }

    /// Who waits for whom.
    pub(super) fn links(self) -> Vec<Link> {
        let workers = self.workers.into_iter();
        workers.flat_map(|worker| worker.links).collect()
    }
}

impl Roll {
    pub(super) fn new() -> Roll {
        Roll {
            number: AtomicU64::new(0),
            book: Mutex::new(Book::default()),
            turned: Condvar::new(),
        }
    }
}

impl Pool {
    /// Asks every worker for its fibers. Blocks the calling thread, for no longer than
    /// [`BOUND`], once the askers before it are done.
    pub(crate) fn call_roll(self: &Arc<Self>, question: Question) -> RollCall {
        if self.is_free() {
            return self.survey(question);
        }
        let local = current::local();
        let own = Worker::of(local).filter(|worker| Arc::ptr_eq(&worker.pool, self));
        let roll = &self.roll;
        let mut book = roll.book.lock();
        while book.open {
            book = roll.turned.wait_until(book, shim::now() + TURN);
            if let Some(own) = own {
                drop(book);
                own.answer_roll(local.fiber());
                book = roll.book.lock();
            }
        }
        book.open = true;
        book.question = question;
        book.answers.clear();
        // ORDERING: SeqCst: see LIVENESS; `rouse` follows.
        roll.number.fetch_add(1, Ordering::SeqCst);
        drop(book);
        self.rouse();
        match own {
            Some(own) => own.answer_roll(local.fiber()),
            None => self.with_driven(|worker| worker.answer_roll(None)),
        }
        let until = shim::now() + BOUND;
        let mut book = roll.book.lock();
        while self.owing(&book).next().is_some() && shim::now() < until {
            book = roll.turned.wait_until(book, until);
        }
        let silent: Vec<usize> = self.owing(&book).collect();
        let mut workers = mem::take(&mut book.answers);
        book.open = false;
        drop(book);
        roll.turned.notify_all();
        workers.extend(silent.into_iter().map(|worker| self.speak_for(worker)));
        workers.sort_by_key(|worker| worker.worker);
        RollCall { workers }
    }

    /// The workers that have a thread and have not answered.
    fn owing<'a>(&'a self, book: &'a Book) -> impl Iterator<Item = usize> + 'a {
        let there = |&worker: &usize| {
            let remote = &self.remotes[worker];
            remote.launched.load(Ordering::Acquire)
                && !remote.ended.load(Ordering::Acquire)
        };
        let missing = |&worker: &usize| book.answers.iter().all(|a| a.worker != worker);
        (0..self.remotes.len()).filter(there).filter(missing)
    }

    /// What can be said of a worker that does not answer.
    fn speak_for(&self, worker: usize) -> WorkerInfo {
        let remote = &self.remotes[worker];
        let busy = remote.settled.get() > 0;
        let running = busy.then(|| FiberInfo::running(worker, remote)).flatten();
        WorkerInfo {
            worker,
            answered: false,
            fibers: running.into_iter().collect(),
            others: Tally::default(),
            links: Vec::new(),
            ready: 0,
            fresh: remote.ring.len() as usize,
        }
    }
}

/// Fibers of one worker, described one after the other, as far as they were asked for.
pub(super) struct Descriptions {
    question: Question,
    pub(super) infos: Vec<FiberInfo>,
    /// How many others do what.
    pub(super) others: Tally,
    /// Thousands may wait for one object, and to describe it takes its lock.
    known: BTreeMap<usize, Object>,
}

impl Descriptions {
    /// What answers this question.
    pub(super) fn answering(question: Question) -> Descriptions {
        Descriptions {
            question,
            infos: Vec::new(),
            others: Tally::default(),
            known: BTreeMap::new(),
        }
    }

    /// # Safety
    /// As [`FiberInfo::sight`].
    pub(super) unsafe fn add(
        &mut self,
        worker: usize,
        fiber: FiberPtr,
        state: State,
        off_stack: bool,
    ) {
        let told = self.infos.len();
        let frames = match self.question {
            Question::Fiber(id) if header(fiber).id() != id => return,
            Question::Fibers(most) if told >= most => {
                // SAFETY: the caller's promise.
                self.others
                    .count(unsafe { fiber_info::doing(fiber, state) });
                return;
            }
            Question::Everything => told < FRAMES,
            Question::Fiber(_) => true,
            Question::Fibers(_) | Question::Links(_) => false,
        };
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

    /// Adds one of which no more is known.
    pub(super) fn add_known(&mut self, info: FiberInfo) {
        match self.question {
            Question::Fiber(id) if info.id.number() != id => {}
            Question::Fibers(most) if self.infos.len() >= most => {
                self.others.count((info.state, info.reason));
            }
            _ => self.infos.push(info),
        }
    }
}

impl Worker {
    /// Whether somebody calls the roll and this worker has not answered.
    pub(super) fn owes_answer(&self) -> bool {
        // ORDERING: SeqCst: see LIVENESS.
        self.pool.roll.number.load(Ordering::SeqCst) != self.answered.get()
    }

    /// Answers, if somebody calls the roll. `running` is the fiber that this is called on.
    pub(super) fn answer_roll(&self, running: Option<FiberPtr>) {
        if self.owes_answer() {
            self.enter_in_book(running);
        }
    }

    #[cold]
    fn enter_in_book(&self, running: Option<FiberPtr>) {
        let roll = &self.pool.roll;
        let (question, number) = {
            let book = roll.book.lock();
            (book.question, roll.number.load(Ordering::SeqCst))
        };
        self.answered.set(number);
        let mut fibers = Descriptions::answering(question);
        let mut links = Vec::new();
        match question {
            Question::Links(most) => links = self.describe_links(most),
            _ => self.describe_started(running, &mut fibers),
        }
        let answer = WorkerInfo {
            worker: self.index,
            answered: true,
            fibers: fibers.infos,
            others: fibers.others,
            links,
            ready: self.count_ready(),
            fresh: self.remote().ring.len() as usize
                + usize::from(!self.remote().next.is_empty()),
        };
        let mut book = roll.book.lock();
        // An answer that comes too late is an answer to nobody.
        if book.open && roll.number.load(Ordering::SeqCst) == number {
            book.answers.push(answer);
            drop(book);
            roll.turned.notify_all();
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

    fn describe_started(&self, running: Option<FiberPtr>, fibers: &mut Descriptions) {
        self.each_started(|fiber| {
            let state = match fiber_info::waits(fiber) {
                _ if running == Some(fiber) => State::Running,
                true => State::Parked,
                false => State::Runnable,
            };
            // SAFETY: this worker's own, and it runs no other before this returns.
            unsafe { fibers.add(self.index, fiber, state, true) };
        });
    }
}
