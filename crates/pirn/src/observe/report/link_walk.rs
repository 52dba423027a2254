//! A walk over the waits of all fibers of a pool, a piece at a time: which fiber waits for which.
//!
//! Owns: the part that is left, and the links found so far. Does not own: the pace of the pieces,
//! and what links mean (`observe::deadlock`).
//!
//! As in `walk`, a worker reads a piece for at most a quarter of a millisecond, and then runs its
//! fibers. There are two differences:
//!
//! * A worker moves the fibers of a piece to the end of its list only if its answer was in time. So
//!   a piece without an answer is requested again, [`MISSES`] times in a row at most, and once in a
//!   pool that the program drives. If a worker runs one fiber for long, its other fibers are left
//!   out.
//! * The asker may pause between two pieces. Another asker may walk then. That may move fibers that
//!   this walk has not read to the end of the list, so this walk is incomplete.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::question::{Question, Want};
use super::snapshot::{ask, begin_walk};
use super::survey::survey_links;
use super::walk::first_wants;
use crate::report::cycle::Link;
use crate::sched::pool::shared::Pool;
use crate::shim;

/// How long a piece waits while another asker walks. Arbitrary: as long as workers have to answer.
const TURN: Duration = Duration::from_millis(50);

/// Requests in a row without an answer after which a walk ends. Arbitrary: they take a second
/// without pauses.
const MISSES: u32 = 20;

/// A walk over the waits of one pool.
pub(in crate::observe) struct LinkWalk {
    pool: Weak<Pool>,
    wants: Vec<Option<Want>>,
    /// By the number of the fiber that waits.
    links: BTreeMap<u64, Link>,
    /// The number of the last turn; 0 before the first.
    turn: u64,
    /// Requests since the last answer.
    misses: u32,
    complete: bool,
}

impl LinkWalk {
    pub(in crate::observe) fn begin(pool: &Arc<Pool>) -> LinkWalk {
        LinkWalk {
            pool: Arc::downgrade(pool),
            wants: first_wants(pool, 0, 0),
            links: BTreeMap::new(),
            turn: 0,
            misses: 0,
            complete: true,
        }
    }

    /// Returns true if no fibers are left.
    pub(in crate::observe) fn is_done(&self) -> bool {
        self.wants.iter().all(Option::is_none)
    }

    /// Returns the number of dispatches in the pool.
    pub(in crate::observe) fn dispatched(&self) -> u64 {
        let pool = self.pool.upgrade();
        pool.map_or(0, |pool| pool.remotes().map(|r| r.dispatched()).sum())
    }

    /// Requests one piece of each worker that has fibers left. Blocks the calling thread for the
    /// answers, and for up to 50 ms while another asker walks. If that one walks on, nothing has
    /// been read. Where nothing runs (`quiet`), this counts as a request without an answer.
    pub(in crate::observe) fn step(&mut self, quiet: bool) {
        let asked = mem::take(&mut self.wants);
        let Some(pool) = self.pool.upgrade() else {
            return;
        };
        let Some(turn) = begin_walk(&pool, shim::now() + TURN) else {
            self.wants = asked;
            if quiet {
                self.miss(MISSES);
            }
            return;
        };
        self.complete &= self.turn == 0 || turn.number == self.turn + 1;
        self.turn = turn.number;
        let answers = match pool.is_free() {
            true => survey_links(&pool, &asked),
            false => ask(&pool, Question::Links, &asked).workers,
        };
        drop(turn);
        self.wants = vec![None; asked.len()];
        let mut missed = !answers.is_empty();
        for answer in answers {
            let Some(want) = asked.get(answer.worker).copied().flatten() else {
                continue;
            };
            let runs_one = || pool.remote(answer.worker).stands_since().is_some();
            if !answer.answered && runs_one() {
                self.complete = false;
                continue;
            }
            missed &= !answer.answered;
            let links = answer.links.into_iter().map(|link| (link.id, link));
            self.links.extend(links);
            let left = want.left.saturating_sub(answer.visited);
            // A list that is at its end has no more.
            let goes_on = left > 0 && (answer.visited > 0 || !answer.answered);
            self.wants[answer.worker] = goes_on.then_some(Want { left, ..want });
        }
        match missed {
            // It may be driven by no thread.
            true if pool.is_by_hand() => self.miss(1),
            true => self.miss(MISSES),
            false => self.misses = 0,
        }
    }

    /// Counts a request that no worker has answered. After `most` in a row, the rest of the fibers
    /// is left out.
    fn miss(&mut self, most: u32) {
        self.misses += 1;
        if self.misses >= most {
            self.complete = false;
            self.wants.clear();
        }
    }

    /// Returns the links found, and false if fibers may have been left out.
    pub(in crate::observe) fn end(self) -> (BTreeMap<u64, Link>, bool) {
        (self.links, self.complete)
    }
}
