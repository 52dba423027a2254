//! The descriptions that a worker makes of its own fibers.
//!
//! Owns: the descriptions of an answer. Does not own: how a question gets to a worker (`snapshot`),
//! or the reading of a fiber (`report::fiber_info`).

use std::collections::BTreeMap;

use super::question::{Counted, Question, Want};
use crate::base::clock;
use crate::fiber::FiberPtr;
use crate::fiber::state_names::State;
use crate::report::cycle::Link;
use crate::report::fiber_info::{self, FiberInfo, Sighting};
use crate::sched::worker::run::Worker;
use crate::wait::object::Object;

/// How long a worker describes fibers for one piece, in nanoseconds; a walk delays other fibers by
/// as much. A quarter of a millisecond is enough for some dozens of fibers. Arbitrary.
pub(super) const PIECE: u64 = 250_000;

/// Fibers of each worker for which backtraces are taken: some microseconds for each, and a page or
/// two of its stack. Arbitrary.
pub(super) const FRAMES: usize = 256;

/// The same under a sanitizer, where one visit takes as long as hundreds of them.
pub(super) const VISITS: usize = if cfg!(any(pirn_asan, pirn_tsan)) {
    8
} else {
    FRAMES
};

/// Descriptions of fibers of one worker, in order, as far as they were asked for.
pub(super) struct Descriptions {
    question: Question,
    /// The number of fibers with a backtrace.
    frames: usize,
    pub(super) infos: Vec<FiberInfo>,
    /// Thousands of fibers may wait for one object, and describing it takes its lock.
    known: BTreeMap<usize, Object>,
}

impl Descriptions {
    /// Returns empty descriptions for this question.
    pub(super) fn answering(question: Question) -> Descriptions {
        Descriptions {
            question,
            frames: match question {
                Question::Everything => VISITS,
                _ => 0,
            },
            infos: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Returns empty descriptions for a question about a piece.
    pub(super) fn of_piece(question: Question, want: Want) -> Descriptions {
        Descriptions {
            frames: want.frames,
            ..Descriptions::answering(question)
        }
    }

    /// Adds a description, unless the question is about another fiber.
    ///
    /// # Safety
    /// As [`FiberInfo::sight`].
    pub(super) unsafe fn add(
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
}

/// Returns the state of a started fiber of the calling worker.
fn state_of(fiber: FiberPtr, running: Option<FiberPtr>) -> State {
    match fiber_info::waits(fiber) {
        _ if running == Some(fiber) => State::Running,
        true => State::Parked,
        false => State::Runnable,
    }
}

/// Visits up to `left` fibers, from the front of the list, for at most [`PIECE`]. Returns the
/// number visited, and the links of those that wait.
pub(super) fn describe_links(worker: &Worker, left: usize) -> (usize, Vec<Link>) {
    let until = clock::now() + PIECE;
    let (mut visited, mut links) = (0, Vec::new());
    // At least one: `visited == 0` stands for an empty list.
    worker.visit_started(|&fiber| {
        if visited == left || (visited > 0 && clock::now() >= until) {
            return false;
        }
        visited += 1;
        if fiber_info::waits(fiber) {
            // SAFETY: as in `describe_started`.
            links.extend(unsafe { fiber_info::link(fiber) });
        }
        true
    });
    (visited, links)
}

/// Describes all started fibers.
pub(super) fn describe_started(
    worker: &Worker,
    running: Option<FiberPtr>,
    fibers: &mut Descriptions,
) {
    worker.each_started(|fiber| {
        let state = state_of(fiber, running);
        // SAFETY: this worker's own. `running` has the stack that this thread is on, also while code
        // runs as the thread's; no other fiber runs before this returns.
        unsafe { fibers.add(worker.index(), fiber, state, true) };
    });
}

/// Describes the next fibers of a walk, for at most [`PIECE`], or counts those that are not to be
/// described. Returns how many it has visited, and the counted ones.
pub(super) fn describe_piece(
    worker: &Worker,
    running: Option<FiberPtr>,
    want: Want,
    fibers: &mut Descriptions,
) -> (usize, Vec<Counted>) {
    let until = clock::now() + PIECE;
    let (mut visited, mut counted) = (0, Vec::new());
    // At least one: `visited == 0` stands for an empty list.
    while visited < want.left && (visited == 0 || clock::now() < until) {
        let Some(fiber) = worker.next_of_walk() else {
            break;
        };
        visited += 1;
        let state = state_of(fiber, running);
        if fibers.infos.len() < want.describe {
            // SAFETY: as in `describe_started`.
            unsafe { fibers.add(worker.index(), fiber, state, true) };
        } else {
            // SAFETY: as in `describe_started`.
            let doing = unsafe { fiber_info::doing(fiber, state) };
            counted.push(Counted::new(fiber, doing));
        }
    }
    (visited, counted)
}
