//! Snapshots of a pool with fibers that may migrate: the asker reads the lists itself.
//!
//! No worker has fibers of its own there that it could describe. The asker goes through the lists
//! of started fibers. It holds the parked ones (`StateWord::hold`), all of one list at a time,
//! reads what they wait for, and releases them. If the wait of one has ended meanwhile, the asker
//! enqueues it, since the waker found it active and did not. Of the others it reads what is
//! constant.
//!
//! A fiber that waits while it unwinds is parked and on its stack: in place, or pinned and about to
//! leave. Its home is not the list that it is in, which the hold has ordered (H3). The stack of
//! such a fiber is not read; its notice says what it waits for, and stays while it is held.
//!
//! LIVENESS: a hold ends: the asker describes objects that are waited for, which takes their locks,
//! and no thread keeps such a lock and waits for a fiber.

use super::describe::{self, Descriptions};
use super::question::{Counted, Question, Snapshot, Want, WorkerInfo};
use crate::base::clock;
use crate::fiber::state::{Hold, Parked};
use crate::fiber::state_names::State;
use crate::fiber::ticket::Wake;
use crate::fiber::{FiberPtr, current};
use crate::report::cycle::Link;
use crate::report::fiber_info::{self, FiberInfo};
use crate::report::summary::Tally;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;

/// A parked fiber that the asker holds.
struct Held {
    fiber: FiberPtr,
    hold: Hold,
    /// No thread is on its stack.
    off_stack: bool,
}

/// The fibers that have started on one worker.
struct Found {
    held: Vec<Held>,
    others: Vec<FiberInfo>,
    /// The asker is one of them.
    asker: bool,
}

/// Answers for all workers.
pub(super) fn survey(pool: &Pool) -> Snapshot {
    let asker = current::local().fiber();
    let running: Vec<_> = pool.remotes().map(Remote::running_fiber).collect();
    let workers = pool.remotes().enumerate();
    let workers = workers.filter_map(|(worker, remote)| {
        let there = remote.has_thread();
        let (found, _) = find(worker, remote, &running, asker, Part::All, None);
        if !there && found.is_empty() {
            return None;
        }
        let fibers = Descriptions::answering(Question::Everything);
        let fibers = found.describe(worker, asker, fibers);
        Some(WorkerInfo {
            fibers: fibers.infos,
            ..answer_of(worker, remote)
        })
    });
    Snapshot {
        workers: workers.collect(),
    }
}

/// Answers for the workers with a wanted piece.
pub(super) fn survey_pieces(
    pool: &Pool,
    question: Question,
    wants: &[Option<Want>],
) -> Vec<WorkerInfo> {
    let wanted = match question {
        Question::Fiber(id) => Some(id),
        _ => None,
    };
    let asker = current::local().fiber();
    let running: Vec<_> = pool.remotes().map(Remote::running_fiber).collect();
    let pieces = pool.remotes().zip(wants).enumerate();
    let pieces = pieces.filter_map(|(worker, (remote, want))| {
        let want = (*want)?;
        let part = Part::Next(want.left.min(PIECE));
        let (found, visited) = find(worker, remote, &running, asker, part, wanted);
        let fibers = Descriptions::of_piece(question, want);
        let fibers = found.describe(worker, asker, fibers);
        let mut fibers = fibers.infos;
        let more = fibers.split_off(fibers.len().min(want.describe));
        let counted = more.into_iter().map(|fiber| Counted {
            id: fiber.id.number(),
            doing: (fiber.state, fiber.reason),
        });
        Some(WorkerInfo {
            fibers,
            counted: counted.collect(),
            visited,
            ..answer_of(worker, remote)
        })
    });
    pieces.collect()
}

/// Answers for the workers of which links are wanted, for at most [`describe::PIECE`] for each.
pub(super) fn survey_links(pool: &Pool, wants: &[Option<Want>]) -> Vec<WorkerInfo> {
    let asker = current::local().fiber();
    let running: Vec<_> = pool.remotes().map(Remote::running_fiber).collect();
    let pieces = pool.remotes().zip(wants).enumerate();
    let pieces = pieces.filter_map(|(worker, (remote, want))| {
        let want = (*want)?;
        let until = clock::now() + describe::PIECE;
        let mut answer = answer_of(worker, remote);
        // At least one: `visited == 0` stands for an empty list.
        while answer.visited < want.left && (answer.visited == 0 || clock::now() < until)
        {
            let part = Part::Next(PIECE.min(want.left - answer.visited));
            let (found, visited) = find(worker, remote, &running, asker, part, None);
            answer.links.extend(found.links());
            answer.visited += visited;
            if visited == 0 {
                break;
            }
        }
        Some(answer)
    });
    pieces.collect()
}

/// Returns an answer without fibers.
fn answer_of(worker: usize, remote: &Remote) -> WorkerInfo {
    WorkerInfo {
        silent: None,
        worker,
        answered: true,
        fibers: Vec::new(),
        others: Tally::default(),
        counted: Vec::new(),
        visited: 0,
        links: Vec::new(),
        ready: remote.shared_ready(),
        fresh: remote.fresh(),
    }
}

/// Which fibers of a worker are read.
enum Part {
    /// All.
    All,
    /// The next fibers of a walk, up to this many.
    Next(usize),
}

/// Claims the parked ones of some fibers of a worker, or of these the one with the number `wanted`.
/// Also returns the number of fibers visited by [`Part::Next`].
fn find(
    worker: usize,
    remote: &Remote,
    running: &[Option<FiberPtr>],
    asker: Option<FiberPtr>,
    part: Part,
    wanted: Option<u64>,
) -> (Found, usize) {
    let mut found = Found {
        held: Vec::new(),
        others: Vec::new(),
        asker: false,
    };
    let expected = match part {
        Part::All => usize::MAX,
        Part::Next(n) => n,
    };
    found.held.reserve(remote.settled().min(expected));
    let look = |fiber: FiberPtr| {
        if wanted.is_some_and(|id| fiber.header().id() != id) {
            return;
        }
        if asker == Some(fiber) {
            found.asker = true;
        } else if let Some(hold) = fiber.header().state.hold() {
            found.held.push(Held {
                fiber,
                hold,
                off_stack: remote.is_home_of(fiber),
            });
        } else {
            let runs = running.contains(&Some(fiber));
            // SAFETY: CM1 of `sched::migrate::shared_queues`: under the lock.
            let info = unsafe { FiberInfo::active(worker, fiber, runs) };
            found.others.extend(info);
        }
    };
    let looked_at = match part {
        Part::Next(n) => remote.rotate_started(n, look),
        Part::All => {
            remote.each_started(look);
            0
        }
    };
    (found, looked_at)
}

impl Found {
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.others.is_empty() && !self.asker
    }

    fn describe(
        self,
        worker: usize,
        asker: Option<FiberPtr>,
        mut fibers: Descriptions,
    ) -> Descriptions {
        if let Some(asker) = asker.filter(|_| self.asker) {
            // SAFETY: it runs here.
            unsafe { fibers.add(worker, asker, State::Running, true) };
        }
        for held in &self.held {
            // SAFETY: held until `self` is dropped.
            unsafe { fibers.add(worker, held.fiber, State::Parked, held.off_stack) };
        }
        fibers.infos.extend(self.others);
        fibers
    }

    fn links(self) -> Vec<Link> {
        let held = self.held.iter();
        // SAFETY: held until `self` is dropped.
        let links = held.filter_map(|held| unsafe { fiber_info::link(held.fiber) });
        links.collect()
    }
}

/// Releases the fiber.
impl Drop for Held {
    fn drop(&mut self) {
        let header = self.fiber.header();
        if let Parked::Claimed(_) = header.state.put_down(self.hold) {
            header.flags.set_claimed_early();
            Wake::of(self.fiber).enqueue();
        }
    }
}

/// Fibers of a worker that are held at a time in a walk: to describe them takes some hundred
/// microseconds, during which the woken ones do not run. Arbitrary.
const PIECE: usize = 32;
