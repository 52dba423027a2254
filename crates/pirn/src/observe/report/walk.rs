//! A walk over all fibers of a pool in pieces, so that no worker is delayed for long.
//!
//! Owns: the asker's side: the number of fibers that each worker is asked for, and the fibers that
//! a walk leaves out. Does not own: how a question gets to a worker (`snapshot`), and the
//! description of a fiber (`report::fiber_info`).
//!
//! 1. Each round asks every worker with fibers left for a piece. The worker describes fibers for at
//!    most a quarter of a millisecond (`describe`), and continues with its work. The next round
//!    asks for the next piece.
//! 2. A worker keeps no position between two pieces. It takes fibers from the front of its list of
//!    started ones and appends them at the back. The list had `left` fibers when the walk began, so
//!    after as many steps each of these that still lives has been visited.
//! 3. If fibers end meanwhile, the ones behind them move forward, and some are visited twice. The
//!    asker keeps the numbers of the fibers that it has visited, and drops repeats.
//! 4. A worker that misses a round because it runs one fiber all the while is not asked again; the
//!    rest of its fibers is left out. A worker that misses a round for another reason (its thread
//!    waits for a processor) is asked again, for as many fibers as it has: its late answer has
//!    moved fibers that the walk has not seen to the back of the list. Fibers that remain when the
//!    time is up, or when the pool has stopped, are left out.
//!
//! One asker walks at a time ([`begin_walk`]): the thread that answers on the socket, a caller of
//! `diag`, or the deadlock detector.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::describe::{FRAMES, VISITS};
use super::question::{Question, Snapshot, Want, WorkerInfo};
use super::snapshot::{ask, begin_walk, snapshot};
use super::survey::survey_pieces;
use crate::fiber::FiberPtr;
use crate::fiber::state_names::State;
use crate::report::fiber_info::FiberInfo;
use crate::report::summary::Tally;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::shim;

/// How long a caller of `diag` waits while another one walks. Arbitrary: longer than most walks
/// take, and short for the caller that waits.
const TURN: Duration = Duration::from_secs(1);

/// How long a walk for `diag` lasts at most. Arbitrary: far more than a million fibers take.
const ALL: Duration = Duration::from_secs(10);

/// How long [`all_fibers`] asks. Arbitrary: enough for a thread that waits for a processor.
const AGAIN: Duration = Duration::from_millis(500);

/// The result of a walk.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The workers that have a thread or fibers, in the order of their numbers.
    pub(crate) workers: Vec<Walked>,
    /// Counts of fibers by state and reason, including the fibers that were not described.
    pub(crate) tally: Tally,
}

/// The result of a walk on one worker.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) worker: usize,
    /// It has answered until all of its fibers were visited, or the time was up.
    pub(crate) answered: bool,
    /// If it has not: how long it has not run another fiber, as far as that is known.
    pub(crate) silent: Option<Duration>,
    /// Started fibers that could run.
    pub(crate) ready: usize,
    /// Fibers that were described.
    pub(crate) described: usize,
    /// Fibers that were not described.
    pub(crate) left_out: usize,
    /// Why not.
    pub(crate) why: Option<LeftOut>,
}

/// Why a walk has left fibers out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// Fewer were asked for.
    Limit,
    /// Their worker does not answer.
    Busy,
    /// The time was up.
    Late,
}

/// The run of a fiber on a worker.
struct Run {
    fiber: Option<FiberPtr>,
    epoch: u64,
}

impl Run {
    /// True if the worker still runs the same fiber.
    fn lasts(&self, remote: &Remote) -> bool {
        let now = run(remote);
        self.fiber.is_some() && (now.fiber, now.epoch) == (self.fiber, self.epoch)
    }
}

/// Returns what the worker runs.
fn run(remote: &Remote) -> Run {
    // ORDERING: a difference is a hint that the worker answers soon.
    Run {
        fiber: remote.running_fiber(),
        epoch: remote.dispatched(),
    }
}

/// Describes all started fibers, with backtraces of some; those of a worker in the order of their
/// ids, since a walk changes the order of its list. Where a worker has many, it is asked for
/// pieces, so that other fibers need not wait. Blocks the calling thread.
pub(crate) fn describe_all(pool: &Arc<Pool>) -> Snapshot {
    let mut snapshot = describe_if(pool, &|_| true);
    for worker in &mut snapshot.workers {
        worker.fibers.sort_unstable_by_key(|fiber| fiber.id);
    }
    snapshot
}

/// As [`describe_all`], of the fibers for which `keep` is true, in the order of the lists.
fn describe_if(pool: &Arc<Pool>, keep: &dyn Fn(&FiberInfo) -> bool) -> Snapshot {
    // A pool that has stopped is not walked.
    let many = pool.phase() != Phase::Stopped
        && pool.remotes().any(|remote| remote.settled() > FRAMES);
    let turn = many.then(|| begin_walk(pool, shim::now() + TURN)).flatten();
    if turn.is_none() {
        let mut snapshot = snapshot(pool);
        let workers = snapshot.workers.iter_mut();
        workers.for_each(|worker| worker.fibers.retain(keep));
        return snapshot;
    }
    let mut all = BTreeMap::<usize, Vec<FiberInfo>>::new();
    let until = shim::now() + ALL;
    let is_over = || shim::now() >= until;
    let (question, most) = (Question::Piece, usize::MAX);
    let walk = walk(pool, question, most, VISITS, &is_over, &mut |fiber| {
        if keep(&fiber) {
            all.entry(fiber.worker).or_default().push(fiber);
        }
        Ok(())
    });
    let walked = walk.map_or(Vec::new(), |walk| walk.workers);
    let workers = walked.into_iter().map(|walked| {
        let worker = walked.worker;
        walked.with(all.remove(&worker).unwrap_or_default(), pool.remote(worker))
    });
    Snapshot {
        workers: workers.collect(),
    }
}

/// Returns the started fibers for which `keep` is true, in the order of their ids, and whether all
/// workers have answered. Asks for up to [`AGAIN`] while a worker has not answered and does not run
/// one long fiber: its thread probably waits for a processor. Blocks the calling thread.
pub(in crate::observe) fn all_fibers(
    pool: &Arc<Pool>,
    keep: &dyn Fn(&FiberInfo) -> bool,
) -> (Vec<FiberInfo>, bool) {
    let until = shim::now() + AGAIN;
    let mut fibers = BTreeMap::new();
    loop {
        let answers = describe_if(pool, keep).workers;
        let complete = answers.iter().all(|worker| worker.answered);
        let stands =
            |worker: &WorkerInfo| pool.remote(worker.worker).stands_since().is_some();
        let waits = answers
            .iter()
            .any(|worker| !worker.answered && !stands(worker));
        for fiber in answers.into_iter().flat_map(|worker| worker.fibers) {
            fibers.insert(fiber.id, fiber);
        }
        if !waits || shim::now() >= until {
            return (fibers.into_values().collect(), complete);
        }
    }
}

/// Describes started fibers, at most `most` of each worker, to `each`, with the backtraces of
/// `frames`; for [`Question::Fiber`] the one fiber only. If a worker does not answer, the fiber
/// that it runs is described too. Ends when `is_over` is true, but for one round. Blocks the
/// calling thread, which has the turn, unless `is_over` is true.
///
/// # Errors
/// Those of `each`, which end the walk.
pub(crate) fn walk(
    pool: &Arc<Pool>,
    question: Question,
    most: usize,
    frames: usize,
    is_over: &dyn Fn() -> bool,
    each: &mut dyn FnMut(FiberInfo) -> io::Result<()>,
) -> io::Result<Walk> {
    let mut wants = first_wants(pool, most, frames);
    let mut workers = listed(pool, &wants);
    let (mut seen, mut tally) = (HashSet::new(), Tally::default());
    let mut missed = BTreeMap::new();
    while wants.iter().any(Option::is_some) {
        // The end of a pool waits for the asker.
        if is_over() || pool.phase() == Phase::Stopped {
            break;
        }
        let runs: Vec<_> = pool.remotes().map(run).collect();
        let answers = match pool.is_free() {
            true => survey_pieces(pool, question, &wants),
            false => ask(pool, question, &wants).workers,
        };
        // One that has ended meanwhile has no fibers left.
        let asked = std::mem::replace(&mut wants, vec![None; pool.places()]);
        for answer in answers {
            let worker = answer.worker;
            let Some(walked) = workers.iter_mut().find(|w| w.worker == worker) else {
                continue;
            };
            let Some(want) = asked[worker] else {
                continue;
            };
            let lasts = |run: &Run| run.lasts(pool.remote(worker));
            if !answer.answered && !runs.get(worker).is_some_and(lasts) {
                let left = pool.settled(worker);
                wants[worker] = Some(Want { left, ..want });
                missed.insert(worker, answer);
                continue;
            }
            missed.remove(&worker);
            wants[worker] = walked.take(
                answer,
                want,
                pool.settled(worker),
                &mut seen,
                &mut tally,
                each,
            )?;
        }
    }
    for walked in &mut workers {
        let Some(want) = wants[walked.worker] else {
            continue;
        };
        let settled = pool.settled(walked.worker);
        if let Some(answer) = missed.remove(&walked.worker) {
            walked.take(answer, want, settled, &mut seen, &mut tally, each)?;
        } else {
            walked.break_off(settled, LeftOut::Late, &mut tally);
        }
    }
    Ok(Walk { workers, tally })
}

/// Returns wants for all fibers of the workers that have some.
pub(super) fn first_wants(pool: &Pool, most: usize, frames: usize) -> Vec<Option<Want>> {
    let want = |remote: &Remote| Want {
        left: remote.settled(),
        describe: most,
        frames,
    };
    let wants = pool.remotes().map(want);
    wants.map(|want| (want.left > 0).then_some(want)).collect()
}

/// Returns an empty result for each worker that has fibers to walk, or a thread. A worker that was
/// added after the wants were read is left out.
pub(super) fn listed(pool: &Pool, wants: &[Option<Want>]) -> Vec<Walked> {
    // Where fibers may migrate, the thread of a worker may end before the fibers that it has
    // started.
    let is_listed = |(worker, want): &(usize, &Option<Want>)| {
        want.is_some() || pool.remote(*worker).is_launched()
    };
    let workers = wants.iter().enumerate().filter(is_listed);
    workers.map(|(worker, _)| Walked::begin(worker)).collect()
}

impl Walked {
    /// Returns an empty result for `worker`.
    fn begin(worker: usize) -> Walked {
        Walked {
            worker,
            answered: true,
            silent: None,
            ready: 0,
            described: 0,
            left_out: 0,
            why: None,
        }
    }

    /// Adds a piece to the results. Returns the next piece to request. The worker has `settled`
    /// fibers now.
    fn take(
        &mut self,
        piece: WorkerInfo,
        want: Want,
        settled: usize,
        seen: &mut HashSet<u64>,
        tally: &mut Tally,
        each: &mut dyn FnMut(FiberInfo) -> io::Result<()>,
    ) -> io::Result<Option<Want>> {
        let is_first = self.described + self.left_out == 0;
        if is_first {
            self.ready = piece.ready;
        }
        let before = self.described;
        for fiber in piece.fibers {
            if !seen.insert(fiber.id.number()) {
                continue;
            }
            tally.count((fiber.state, fiber.reason));
            if self.described - before < want.describe {
                self.described += 1;
                each(fiber)?;
            } else {
                self.leave_out(1, LeftOut::Limit);
            }
        }
        for counted in &piece.counted {
            if seen.insert(counted.id) {
                tally.count(counted.doing);
                self.leave_out(1, LeftOut::Limit);
            }
        }
        let described = self.described - before;
        if !piece.answered {
            self.answered = false;
            self.silent = piece.silent;
            if is_first {
                // Counts all fibers of the worker, as far as known.
                let others = piece.others.iter().map(|(_, _, fibers)| fibers);
                self.leave_out(others.sum(), LeftOut::Busy);
                tally.merge(&piece.others);
            } else {
                self.break_off(settled, LeftOut::Busy, tally);
            }
            return Ok(None);
        }
        let left = want.left.saturating_sub(piece.visited);
        // A list that is at its end has no more.
        let next = (left > 0 && piece.visited > 0).then_some(Want {
            left,
            describe: want.describe - described,
            frames: want.frames.saturating_sub(described),
        });
        Ok(next)
    }

    /// Returns the same with the `fibers` that were described.
    fn with(self, fibers: Vec<FiberInfo>, remote: &Remote) -> WorkerInfo {
        let mut others = Tally::default();
        others.add((State::Parked, None), self.left_out);
        WorkerInfo {
            worker: self.worker,
            answered: self.answered,
            silent: self.silent,
            fibers,
            others,
            counted: Vec::new(),
            visited: 0,
            links: Vec::new(),
            ready: self.ready,
            fresh: remote.ring_len(),
        }
    }

    /// Leaves out the rest of the `settled` fibers of the worker. Fibers that were visited may have
    /// ended since, so the rest counts as one at least: an omission is never unmarked.
    fn break_off(&mut self, settled: usize, why: LeftOut, tally: &mut Tally) {
        let rest = settled.saturating_sub(self.described + self.left_out);
        let left = rest.max(usize::from(settled > 0));
        self.leave_out(left, why);
        tally.add((State::Parked, None), left);
    }

    fn leave_out(&mut self, fibers: usize, why: LeftOut) {
        if fibers > 0 {
            self.left_out += fibers;
            self.why = Some(why);
        }
    }
}
